import { Graph, layout } from '@dagrejs/dagre';
import { escapeHtml } from './html.ts';

/** The state before the first one and after the last one, as Mermaid writes them. */
const OUTSIDE = '[*]';
const START = 'start';
const END = 'end';

/** Of the drawing's font, at 14 px. */
const LETTER = 8.5;
const HEIGHT = 34;
const DOT = 14;
const MARGIN = 6;

type Arrow = readonly [from: string, to: string];

/** Reads Mermaid's state diagrams as far as the docs use them: arrows alone. @throws for any other line */
export function arrowsOf(source: string): Arrow[] {
  const [kind, ...lines] = source.trim().split('\n');
  if (kind !== 'stateDiagram-v2') throw new Error(`a drawing begins with stateDiagram-v2, not ${kind}`);
  return lines.map((line) => {
    const [from, to, ...more] = line.trim().split(' --> ');
    if (from === undefined || to === undefined || more.length > 0) throw new Error(`no arrow: ${line}`);
    return [from === OUTSIDE ? START : from, to === OUTSIDE ? END : to];
  });
}

interface Point {
  x: number;
  y: number;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** A smooth line: through the middle of each piece, bent at each point. */
function pathOf(points: readonly Point[]): string {
  const [first, ...others] = points.map(({ x, y }) => ({ x: round(x), y: round(y) }));
  const last = others.at(-1);
  if (first === undefined || last === undefined) return '';
  const bends = others.slice(0, -1).map((point, at) => {
    const next = others[at + 1] ?? last;
    const isLast = at === others.length - 2;
    const end = isLast ? last : { x: round((point.x + next.x) / 2), y: round((point.y + next.y) / 2) };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${bends.length > 0 ? bends.join('') : `L${last.x} ${last.y}`}`;
}

const sizeOf = (state: string) =>
  state === START || state === END
    ? { width: DOT, height: DOT }
    : { width: state.length * LETTER + 24, height: HEIGHT };

function stateOf(state: string, { x, y }: Point): string {
  if (state === START) return `<circle class="begin" cx="${x}" cy="${y}" r="${DOT / 2}"/>`;
  if (state === END)
    return `<circle class="end" cx="${x}" cy="${y}" r="${DOT / 2}"/><circle class="begin" cx="${x}" cy="${y}" r="${DOT / 4}"/>`;
  const { width, height } = sizeOf(state);
  const corner = `x="${round(x - width / 2)}" y="${round(y - height / 2)}"`;
  return `<rect ${corner} width="${width}" height="${height}" rx="8"/><text x="${round(x)}" y="${round(y)}">${escapeHtml(state)}</text>`;
}

function cornersOf(state: string, { x, y }: Point): Point[] {
  const { width, height } = sizeOf(state);
  return [-1, 1].map((side) => ({ x: x + (side * width) / 2, y: y + (side * height) / 2 }));
}

/** What the drawing takes of one direction, with a margin. Lines may go further than the states. */
function spanOf(places: readonly number[]): { from: number; length: number } {
  const from = Math.floor(Math.min(...places)) - MARGIN;
  return { from, length: Math.ceil(Math.max(...places)) + MARGIN - from };
}

const worded = ([from, to]: Arrow) =>
  from === START ? `begins as ${to}` : to === END ? `${from} is an end` : `${from} to ${to}`;

/**
 * A drawing of the states of something, such as `payment`, as SVG, which needs no script; its label says the same in words.
 * `id` is its own on the page.
 */
export function drawStates(source: string, what: string, id: string): string {
  const arrows = arrowsOf(source);
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 40 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const state of new Set(arrows.flat())) graph.setNode(state, sizeOf(state));
  for (const [from, to] of arrows) graph.setEdge(from, to);
  layout(graph);
  const bends = graph
    .edges()
    .map((edge: { v: string; w: string }) => (graph.edge(edge) as { points: Point[] }).points);
  const lines = bends.map((points: Point[]) => `<path d="${pathOf(points)}" marker-end="url(#${id}-tip)"/>`);
  const states = graph.nodes().map((state: string) => stateOf(state, graph.node(state) as Point));
  const corners = graph.nodes().flatMap((state: string) => cornersOf(state, graph.node(state) as Point));
  const all: Point[] = [...corners, ...bends.flat()];
  const x = spanOf(all.map((point) => point.x));
  const y = spanOf(all.map((point) => point.y));
  return `<figure class="states"><figcaption>States of ${escapeHtml(/^[aeiou]/.test(what) ? `an ${what}` : `a ${what}`)}</figcaption><svg role="img" aria-label="${escapeHtml(`${arrows.map(worded).join('; ')}.`)}" viewBox="${x.from} ${y.from} ${x.length} ${y.length}" width="${x.length}" height="${y.length}"><defs><marker id="${id}-tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>${lines.join('')}${states.join('')}</svg></figure>\n`;
}
