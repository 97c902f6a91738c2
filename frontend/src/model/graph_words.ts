/** What ops and modules are called on the graph: short names, families, and a module's settings in few characters. */

/** Index of an op's hue: 0 other, 1 linear, 2 convolution, 3 activation, 4 norm and dropout, 5 attention, 6 pool. */
export type Family = 0 | 1 | 2 | 3 | 4 | 5 | 6;

const VIEWS = new Set(
  (
    'view view_as reshape reshape_as flatten ravel unflatten permute transpose transpose_ swapaxes swapdims movedim moveaxis t adjoint ' +
    'T mT H mH contiguous unsqueeze unsqueeze_ squeeze squeeze_ expand expand_as broadcast_to select narrow chunk split ' +
    'split_with_sizes tensor_split hsplit vsplit dsplit unbind diagonal detach detach_ as_strided __getitem__ view_as_real view_as_complex'
  ).split(' '),
);

/** The last part of an op's name; a property's getter is called as the property: `torch.Tensor.T.__get__` is `T`. */
export function shortName(name: string): string {
  const parts = name.split('.');
  const last = parts.at(-1) ?? name;
  return last === '__get__' && parts.length > 1 ? (parts.at(-2) ?? last) : last;
}

/** Whether an op of that short name, with one tensor among its inputs, only looks at the same numbers in another way. */
export function isView(short: string): boolean {
  return VIEWS.has(short);
}

const FAMILY_WORDS: readonly (readonly [Family, RegExp])[] = [
  [5, /attention|sdpa/i],
  [2, /conv/i],
  [
    6,
    /pool|interpolate|upsample|pixel_?(un)?shuffle|grid_sample|^(mean|sum|amax|amin|max|min|argmax|argmin|norm|var|std|prod|logsumexp|topk|cumsum|any|all)$/i,
  ],
  [4, /norm$|norm\d|normali[sz]e|dropout/i],
  [
    3,
    /relu|gelu|silu|swish|mish|tanh|sigmoid|softmax|softplus|softsign|softmin|hardshrink|hardtanh|^(h?elu|celu|selu|glu|activation|prelu|threshold)$/i,
  ],
  [
    1,
    /linear|matmul|^(mm|bmm|addmm|baddbmm|einsum|dot|mv|inner|outer|tensordot|chain_matmul|__matmul__|__rmatmul__)$|embedding|lstm|gru|rnn/i,
  ],
];

/** The family of an op by its short name: `familyOf('max_pool2d') === 6`. */
export function familyOf(short: string): Family {
  return FAMILY_WORDS.find(([, words]) => words.test(short))?.[0] ?? 0;
}

const SIGNS: ReadonlyMap<string, string> = new Map([
  ...['add', 'add_', '__add__', '__radd__', '__iadd__'].map((name) => [name, '+'] as const),
  ...['mul', 'mul_', 'multiply', '__mul__', '__rmul__', '__imul__'].map((name) => [name, '×'] as const),
]);

/** The sign of an op that is drawn as a circle, else ''. */
export function signOf(short: string): string {
  return SIGNS.get(short) ?? '';
}

/** Operators as people write them, for ops that have no name of their own. */
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['__sub__', 'sub'],
  ['__rsub__', 'rsub'],
  ['__truediv__', 'div'],
  ['__rtruediv__', 'div'],
  ['__matmul__', 'matmul'],
  ['__rmatmul__', 'matmul'],
  ['__pow__', 'pow'],
  ['__neg__', 'neg'],
  ['__getitem__', 'index'],
  ['__setitem__', 'assign'],
]);

/** The name that an op's node bears. */
export function opTitle(short: string): string {
  return OPERATORS.get(short) ?? short.replace(/^__(\w+)__$/, '$1');
}

/** Splits at commas that stand in no bracket: `'1, 6, kernel_size=(5, 5)'` has three parts. */
export function topLevelParts(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charAt(i);
    if ('([{'.includes(letter)) depth++;
    else if (')]}'.includes(letter)) depth--;
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts.filter((part) => part !== '');
}

interface Settings {
  readonly positional: readonly string[];
  readonly named: ReadonlyMap<string, string>;
}

function settingsOf(config: string): Settings {
  const positional: string[] = [];
  const named = new Map<string, string>();
  for (const part of topLevelParts(config)) {
    const match = /^(\w+)=(.*)$/s.exec(part);
    if (match?.[1] !== undefined) named.set(match[1], match[2] ?? '');
    else positional.push(part);
  }
  return { positional, named };
}

/** `(5, 5)` as `5×5`; one number stands for each of `axes`. */
function sizes(text: string, axes: number): string {
  const numbers = text.match(/-?\d+/g) ?? [];
  return (numbers.length === 1 ? Array<string>(axes).fill(numbers[0]) : numbers).join('×');
}

/** A stride, padding, … where it isn't the usual one: `s2`; `2×1` where the axes differ. */
function unusual(letter: string, text: string | undefined, usual: string): string {
  if (text === undefined) return '';
  const numbers = text.match(/-?\d+/g);
  if (!numbers) return text === usual ? '' : ` ${letter} ${text.replace(/'/g, '')}`;
  const same = new Set(numbers).size === 1 ? numbers[0] : numbers.join('×');
  return same === usual ? '' : ` ${letter}${same}`;
}

function axesOf(type: string): number {
  return Number(/(\d)d/.exec(type)?.[1] ?? 1);
}

function convolution(type: string, { positional, named }: Settings): string {
  const kernel = sizes(named.get('kernel_size') ?? '', axesOf(type));
  const rest =
    unusual('s', named.get('stride'), '1') +
    unusual('p', named.get('padding'), '0') +
    unusual('d', named.get('dilation'), '1') +
    unusual('g', named.get('groups'), '1');
  return `${positional[0] ?? '?'}→${positional[1] ?? '?'}${kernel && `, ${kernel}`}${rest}`;
}

function pooling(type: string, { positional, named }: Settings): string {
  const kernel = named.get('kernel_size') ?? named.get('output_size') ?? positional[0] ?? '';
  const stride = unusual('s', named.get('stride'), (/\d+/.exec(kernel) ?? [''])[0]);
  return sizes(kernel, axesOf(type)) + stride + unusual('p', named.get('padding'), '0');
}

/** Settings that tell a reader of shapes nothing. */
const USUAL =
  /^(inplace|bias|approximate|ceil_mode|eps|momentum|affine|elementwise_affine|track_running_stats|batch_first|align_corners)=/;

/**
 * A module's settings as the graph shows them beside its type: `Conv2d`'s become `1→6, 5×5`, `Linear`'s `84→10`.
 *
 * Types that nobody here knows keep their own words as long as they are few.
 */
export function compactConfig(type: string, config: string): string {
  const settings = settingsOf(config);
  const { positional, named } = settings;
  if (/^(Lazy)?Conv(Transpose)?\dd$/.test(type)) return convolution(type, settings);
  if (/Pool\dd$/.test(type)) return pooling(type, settings);
  if (named.has('in_features') && named.has('out_features'))
    return `${named.get('in_features') ?? ''}→${named.get('out_features') ?? ''}`;
  if (/Norm(\dd)?$/.test(type))
    return positional
      .map((part) =>
        part
          .replace(/[(),]+/g, ' ')
          .trim()
          .replace(/ +/g, '×'),
      )
      .join(', ');
  if (/^Embedding(Bag)?$/.test(type)) return positional.slice(0, 2).join('×');
  if (type.includes('Dropout')) return named.has('p') ? `p=${named.get('p') ?? ''}` : '';
  if (/^(LSTM|GRU|RNN)$/.test(type)) return `${positional[0] ?? '?'}→${positional[1] ?? '?'}`;
  const rest = topLevelParts(config)
    .filter((part) => !USUAL.test(part))
    .join(', ');
  return rest.length <= 24 ? rest : '';
}

/** `(slice(None, None, None), 0)` as a reader of Python expects it: `[:, 0]`. */
export function indexText(literal: string): string {
  const text = literal
    .replace(/slice\(([^,()]*), ?([^,()]*), ?([^,()]*)\)/g, (_, start: string, stop: string, step: string) => {
      const known = (value: string): string => (value === 'None' ? '' : value);
      return `${known(start)}:${known(stop)}${known(step) && `:${known(step)}`}`;
    })
    .replace(/Ellipsis/g, '...')
    .replace(/^\((.*?),?\)$/s, '$1');
  return `[${text}]`;
}

/** An op's settings beside its name: those arguments that are no tensors, as far as they are short and say more than None or False. */
export function compactArguments(pairs: readonly (readonly [name: string, literal: string])[]): string {
  const said = pairs
    .filter(([, literal]) => !literal.includes('%') && literal.length <= 20 && literal !== 'None' && literal !== 'False')
    .map(([name, literal]) => (/^[a-z_]\w*$/i.test(name) ? `${name}=${literal}` : literal));
  let text = '';
  for (const part of said) {
    if (text.length + part.length > 26) break;
    text += (text && ', ') + part;
  }
  return text;
}
