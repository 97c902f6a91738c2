/** Collects lines as they are placed and hands them over as typed arrays. */

import { END_ARROW, END_DOT, START_DOT, type LayoutInput, type Wires } from './layout';
import type { Route } from './routes';
import type { Stretch } from './scopes';

export class WireList {
  private readonly from: number[] = [0];
  private readonly points: number[] = [];
  private readonly ends: number[] = [];
  private readonly edge: number[] = [];
  private readonly value: number[] = [];
  private readonly alongFrom: number[] = [0];
  private readonly along: number[] = [];
  private readonly labelX: number[] = [];
  private readonly labelY: number[] = [];
  private readonly wordsX: number[] = [];

  constructor(private readonly input: LayoutInput) {}

  /** A stretch of edges, moved to where its group stands. */
  addRoute(route: Route, stretch: Stretch, arrow: boolean, dx: number, dy: number): void {
    for (let i = 0; i < route.points.length; i += 2)
      this.points.push((route.points[i] ?? 0) + dx, (route.points[i + 1] ?? 0) + dy);
    const first = stretch.edges[0] ?? -1;
    for (const edge of stretch.edges) this.along.push(edge);
    const { label } = route;
    const hasWords = label !== null && (this.input.words[first] ?? 0) > 0;
    this.close((arrow ? END_ARROW : 0) | (route.dot ? START_DOT : 0), first, -1);
    this.labelX.push(label ? label.x + dx : NaN);
    this.labelY.push(label ? label.y + dy : NaN);
    this.wordsX.push(hasWords ? label.wordsX + dx : NaN);
  }

  /** The line from a value to its host. */
  addValue(value: number, points: readonly number[]): void {
    this.points.push(...points);
    this.close(END_DOT, -1, value);
    for (const column of [this.labelX, this.labelY, this.wordsX]) column.push(NaN);
  }

  private close(ends: number, edge: number, value: number): void {
    this.from.push(this.points.length / 2);
    this.alongFrom.push(this.along.length);
    this.ends.push(ends);
    this.edge.push(edge);
    this.value.push(value);
  }

  build(): Wires {
    return {
      from: Int32Array.from(this.from),
      points: Float64Array.from(this.points),
      ends: Uint8Array.from(this.ends),
      edge: Int32Array.from(this.edge),
      value: Int32Array.from(this.value),
      alongFrom: Int32Array.from(this.alongFrom),
      along: Int32Array.from(this.along),
      labelX: Float64Array.from(this.labelX),
      labelY: Float64Array.from(this.labelY),
      wordsX: Float64Array.from(this.wordsX),
    };
  }
}
