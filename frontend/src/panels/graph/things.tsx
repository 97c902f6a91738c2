/** Names and places of what the canvas shows, for programs: a canvas alone tells them nothing. */

import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { letterOf } from '../../base/format';
import { toScreen } from '../../render/camera';
import { windowOf } from '../../render/canvas';
import type { Scene } from '../../render/scene';
import { nodeBox } from '../../render/scene_source';
import type { Stage } from '../../render/stage';
import * as app from '../../state/app_state';

const MOST = 300;
const REST_MS = 150;

interface Thing {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly cases: string; // their letters, where not every case ran it
  readonly value: string; // whose contents were read
  readonly box: readonly number[];
}

/** A hidden list that follows the camera once it rests: `data-box` is x, y, width and height in px from the graph's corner. */
export function GraphThings({ stage, scene }: { readonly stage: Stage; readonly scene: Scene }): VNode {
  const things = useSignal<readonly Thing[]>([]);
  const camera = app.view.value;
  useEffect(() => {
    const timer = setTimeout(() => (things.value = thingsIn(stage, scene)), REST_MS);
    return () => clearTimeout(timer);
  }, [things, stage, scene, camera]);
  return (
    <ul class="graph-things" hidden>
      {things.value.map(({ kind, name, state, cases, value, box }, i) => (
        <li key={i} data-kind={kind} data-state={state} data-cases={cases} data-value={value} data-box={box.join(' ')}>
          {name}
        </li>
      ))}
    </ul>
  );
}

function thingsIn(stage: Stage, scene: Scene): readonly Thing[] {
  const { camera, size } = stage;
  const { graph, layout } = scene.source;
  const found: Thing[] = [];
  const seen = windowOf(camera, size.width, size.height);
  for (const layer of [scene.groups, scene.nodes]) {
    layer.within(seen, ({ index }) => {
      const node = graph.nodes[index];
      if (!node || found.length >= MOST) return;
      const box = nodeBox(layout, index);
      const corner = toScreen(camera, size, box);
      const px = [corner.x, corner.y, box.w * camera.zoom, box.h * camera.zoom].map((value) => Math.round(value));
      found.push({
        kind: node.open ? 'open' : node.kind,
        name: node.name,
        state: node.absent ? 'not run' : node.state,
        cases: node.cases.map(letterOf).join(' '),
        value: node.value,
        box: px,
      });
    });
  }
  return found;
}
