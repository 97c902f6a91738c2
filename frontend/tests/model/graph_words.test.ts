/** Names and settings as the graph shows them. */

import { expect, test } from 'vitest';
import { compactArguments, compactConfig, familyOf, indexText, opTitle, shortName, signOf } from '../../src/model/graph_words';

test.each([
  ['Conv2d', '1, 6, kernel_size=(5, 5), stride=(1, 1)', '1→6, 5×5'],
  ['Conv2d', '3, 768, kernel_size=(16, 16), stride=(16, 16)', '3→768, 16×16 s16'],
  ['Conv2d', '64, 64, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), groups=64, bias=False', '64→64, 3×3 s2 p1 g64'],
  ['Conv1d', '8, 8, kernel_size=(3,), stride=(1,), padding=same', '8→8, 3 p same'],
  ['ConvTranspose2d', '8, 4, kernel_size=(2, 3), stride=(2, 1)', '8→4, 2×3 s2×1'],
  ['MaxPool2d', 'kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False', '2×2'],
  ['MaxPool2d', 'kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False', '3×3 s2 p1'],
  ['AdaptiveAvgPool2d', 'output_size=(1, 1)', '1×1'],
  ['Linear', 'in_features=84, out_features=10, bias=True', '84→10'],
  ['LayerNorm', '(768,), eps=1e-05, elementwise_affine=True', '768'],
  ['BatchNorm2d', '64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True', '64'],
  ['GroupNorm', '32, 512, eps=1e-05, affine=True', '32, 512'],
  ['Embedding', '50257, 768', '50257×768'],
  ['Dropout', 'p=0.5, inplace=False', 'p=0.5'],
  ['GELU', "approximate='none'", ''],
  ['ReLU', 'inplace=True', ''],
  ['LSTM', '10, 20, num_layers=2, batch_first=True', '10→20'],
  ['Mine', 'size=3', 'size=3'],
  ['Mine', 'a_very_long_setting=(1, 2, 3, 4, 5, 6)', ''],
])('%s(%s) says "%s"', (type, config, said) => {
  expect(compactConfig(type, config)).toBe(said);
});

test.each([
  ['linear', 1],
  ['Linear', 1],
  ['conv2d', 2],
  ['gelu', 3],
  ['layer_norm', 4],
  ['BatchNorm2d', 4],
  ['scaled_dot_product_attention', 5],
  ['MultiheadAttention', 5],
  ['max_pool2d', 6],
  ['mean', 6],
  ['cat', 0],
  ['relu', 3],
  ['__getitem__', 0],
] as const)('%s is of family %i', (name, family) => {
  expect(familyOf(name)).toBe(family);
});

test('indices are written as in Python', () => {
  expect(indexText('(slice(None, None, None), 0)')).toBe('[:, 0]');
  expect(indexText('(Ellipsis, slice(1, -1, None))')).toBe('[..., 1:-1]');
  expect(indexText('slice(None, None, 2)')).toBe('[::2]');
  expect(indexText('0')).toBe('[0]');
});

test('arguments are shown as far as they are short and tell something', () => {
  expect(
    compactArguments([
      ['input', '%0'],
      ['start_dim', '1'],
      ['inplace', 'False'],
    ]),
  ).toBe('start_dim=1');
  expect(compactArguments([['', '2']])).toBe('2');
  expect(compactArguments(Array.from({ length: 9 }, (_, i) => [`name${i}`, '10'] as const))).toBe('name0=10, name1=10, name2=10');
});

test('ops have the names that people use', () => {
  expect(shortName('torch.nn.functional.conv2d')).toBe('conv2d');
  expect(shortName('torch.Tensor.T.__get__')).toBe('T');
  expect(opTitle('__truediv__')).toBe('div');
  expect([signOf('__iadd__'), signOf('mul'), signOf('sub')]).toEqual(['+', '×', '']);
});
