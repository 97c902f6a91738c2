/** The canvas as a stage: shows a scene through a camera, moves the camera, and paints when something changed. */

import type { Box, Point } from '../base/geometry';
import { between, CAMERA_MS, panned, zoomedAbout, type Camera, type Size } from './camera';
import { paintCanvas } from './canvas';
import type { Scene } from './scene';
import { highlightShapes } from './scene_nodes';

/** More things on the screen than this aren't animated. */
const MOST_ANIMATED = 2000;

export class Stage {
  camera: Camera = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  private shown: Scene | null = null;
  private selected = -1;
  private hovered = -1;
  private frame = 0;
  private motion: { readonly from: Camera; readonly to: Camera; readonly start: number } | null = null;
  private painted = 0; // things on the screen at the last paint
  private readonly context: CanvasRenderingContext2D | null;

  /** `moved` hears every new camera, `still`: no animation is wanted. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly moved: (camera: Camera) => void,
    private readonly still: () => boolean,
  ) {
    this.context = canvas.getContext('2d');
  }

  get scene(): Scene | null {
    return this.shown;
  }

  show(scene: Scene | null): void {
    this.shown = scene;
    this.hovered = -1;
    this.repaint();
  }

  highlight(selected: number, hovered: number): void {
    if (selected === this.selected && hovered === this.hovered) return;
    this.selected = selected;
    this.hovered = hovered;
    this.repaint();
  }

  /** Follows the size of its place on the page; one of no size is hidden and isn't painted. */
  resize(size: Size): void {
    this.size = size;
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(size.width * ratio);
    this.canvas.height = Math.round(size.height * ratio);
    this.paintNow(); // a canvas that changes its size is empty at once
  }

  /** Looks from there: at once, or along the way in 240 ms. */
  lookFrom(camera: Camera, animated: boolean): void {
    const animates = animated && !this.still() && this.painted <= MOST_ANIMATED && this.size.width > 0;
    this.motion = animates ? { from: this.camera, to: camera, start: performance.now() } : null;
    if (!animates) this.place(camera);
    this.repaint();
  }

  pan(dx: number, dy: number): void {
    this.lookFrom(panned(this.camera, dx, dy), false);
  }

  /** Zooms about a point of the canvas, its middle where none is given. */
  zoom(factor: number, point: Point = { x: this.size.width / 2, y: this.size.height / 2 }, animated = false): void {
    this.lookFrom(zoomedAbout(this.motion?.to ?? this.camera, this.size, point, factor), animated);
  }

  /** Moves the graph so that a box that was at `before` and is now at `after` stays where it is on the screen. */
  keepInPlace(before: Box, after: Box): void {
    const dx = after.x + after.w / 2 - (before.x + before.w / 2);
    this.lookFrom({ ...this.camera, x: this.camera.x + dx, y: this.camera.y + after.y - before.y }, false);
  }

  close(): void {
    cancelAnimationFrame(this.frame);
  }

  private place(camera: Camera): void {
    this.camera = camera;
    this.moved(camera);
  }

  private repaint(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paintNow());
  }

  private paintNow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { motion, context, shown, size } = this;
    if (motion) {
      const part = (performance.now() - motion.start) / CAMERA_MS;
      if (part >= 1) this.motion = null;
      this.place(part >= 1 ? motion.to : between(motion.from, motion.to, part));
      if (part < 1) this.repaint();
    }
    if (!context || size.width === 0 || size.height === 0) return;
    if (!shown) {
      context.clearRect(0, 0, this.canvas.width, this.canvas.height);
      return;
    }
    const over = highlightShapes(shown.source, this.selected, this.hovered);
    this.painted = paintCanvas(context, shown, this.camera, { ...size, ratio: devicePixelRatio }, over);
  }
}
