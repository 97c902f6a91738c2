/** The graph: the model as it ran, on a canvas that one pans, zooms, opens and walks through. */

import { computed, useSignal, useSignalEffect } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TEXTS } from '../base/texts';
import { select, toggleCall } from '../state/actions';
import * as app from '../state/app_state';
import { hitTest } from '../render/hit';
import { nextNode } from '../render/walk';
import { toGraph } from '../render/camera';
import { GraphControls } from './graph/controls';
import { GraphLegend } from './graph/legend';
import { nodeText } from '../model/graph_names';
import { GraphController } from './graph/controller';
import { selectionOf } from './graph/subjects';
import { GraphThings } from './graph/things';

const WHEEL_SPEED = 0.0015;
const DRAG_PX = 4;
const ARROWS = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right' } as const;

const percent = computed(() => Math.round((app.view.value?.zoom ?? 1) * 100));

export function GraphPanel(): VNode {
  const room = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const controller = useSignal<GraphController | null>(null);
  useEffect(() => {
    if (!room.current || !canvas.current) return;
    const made = new GraphController(room.current, canvas.current);
    controller.value = made;
    return () => {
      controller.value = null;
      made.close();
    };
  }, [controller]);
  useSignalEffect(() => controller.value?.followGraph());
  useSignalEffect(() => controller.value?.followSelection());
  useSignalEffect(() => controller.value?.followRequests());
  const graph = controller.value;
  const node = graph?.selected.value ?? -1;
  const scene = graph?.scene.value ?? null;
  const about = scene && app.record.value ? nodeText(app.record.value, scene.source.graph, node) : '';
  return (
    <div class="graph" ref={room}>
      <div
        class="graph-canvas"
        role="application"
        tabIndex={0}
        aria-label={`${TEXTS.graphOf(app.record.value?.name ?? '')}; ${TEXTS.graphHint}`}
        aria-activedescendant={about ? 'graph-active' : undefined}
        onPointerDown={(event) => graph && startDrag(graph, event)}
        onPointerMove={(event) => graph?.hover(pointOf(event))}
        onPointerLeave={() => graph?.hover(null)}
        onDblClick={(event) => graph && openAt(graph, event)}
        onWheel={(event) => graph && wheel(graph, event)}
        onKeyDown={(event) => graph && pressKey(graph, event)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {about && <div id="graph-active" role="img" aria-label={about} />}
      </div>
      {scene?.source.graph.nodes.length === 0 && <p class="graph-empty muted">{TEXTS.noGraph}</p>}
      {graph && scene && <GraphThings stage={graph.stage} scene={scene} />}
      {graph && scene && <GraphLegend graph={scene.source.graph} heat={scene.source.heat ?? null} />}
      {graph && scene && <GraphControls stage={graph.stage} percent={percent.value} />}
    </div>
  );
}

function pointOf(event: MouseEvent): { x: number; y: number } {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** Pans while the pointer is down; one that hardly moved was a click. */
function startDrag(graph: GraphController, event: PointerEvent): void {
  if (event.button !== 0) return;
  const target = event.currentTarget as HTMLElement;
  const start = pointOf(event);
  let last = start;
  let dragged = false;
  target.setPointerCapture(event.pointerId);
  const abort = new AbortController();
  const { signal } = abort;
  target.addEventListener(
    'pointermove',
    (move) => {
      const box = target.getBoundingClientRect();
      const now = { x: move.clientX - box.left, y: move.clientY - box.top };
      dragged ||= Math.hypot(now.x - start.x, now.y - start.y) > DRAG_PX;
      if (!dragged) return;
      target.classList.add('dragging');
      graph.stage.pan(now.x - last.x, now.y - last.y);
      last = now;
    },
    { signal },
  );
  const end = (): void => {
    abort.abort();
    target.classList.remove('dragging');
    if (!dragged) clickAt(graph, start);
  };
  target.addEventListener('pointerup', end, { signal });
  target.addEventListener('pointercancel', () => abort.abort(), { signal });
}

function hitAt(graph: GraphController, point: { x: number; y: number }): ReturnType<typeof hitTest> {
  const { stage } = graph;
  return stage.scene ? hitTest(stage.scene, toGraph(stage.camera, stage.size, point), stage.camera.zoom) : null;
}

function clickAt(graph: GraphController, point: { x: number; y: number }): void {
  const hit = hitAt(graph, point);
  const scene = graph.stage.scene;
  if (!hit || !scene) {
    select(null);
    return;
  }
  if (hit.kind === 'edge') {
    const tensor = scene.source.graph.edges[hit.edge]?.tensors[0];
    select(tensor === undefined ? null : { kind: 'tensor', id: tensor });
    return;
  }
  const node = scene.source.graph.nodes[hit.node];
  if (hit.chevron && node && node.call >= 0) toggleCall(node.call);
  else if (node) select(selectionOf(node));
}

function openAt(graph: GraphController, event: MouseEvent): void {
  const hit = hitAt(graph, pointOf(event));
  if (hit?.kind === 'node' && !hit.chevron) graph.toggle(hit.node);
}

function wheel(graph: GraphController, event: WheelEvent): void {
  event.preventDefault();
  const px =
    event.deltaMode === WheelEvent.DOM_DELTA_LINE
      ? 16
      : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
        ? graph.stage.size.height
        : 1;
  if (event.shiftKey) graph.stage.pan(-(event.deltaX || event.deltaY) * px, 0);
  else graph.stage.zoom(Math.exp(-event.deltaY * px * WHEEL_SPEED * (event.ctrlKey ? 4 : 1)), pointOf(event));
}

function pressKey(graph: GraphController, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { scene } = graph.stage;
  const direction = event.key in ARROWS ? ARROWS[event.key as keyof typeof ARROWS] : null;
  if (direction && scene) {
    const next = nextNode(scene.source.graph, scene.source.layout, graph.selected.value, direction);
    const node = next === null ? undefined : scene.source.graph.nodes[next];
    if (node) select(selectionOf(node), true);
  } else if (event.key === 'Enter') graph.toggle(graph.selected.value);
  else if (event.key === '+' || event.key === '=') graph.stage.zoom(1.25, undefined, true);
  else if (event.key === '-') graph.stage.zoom(0.8, undefined, true);
  else return;
  event.preventDefault();
}
