// The last half hour of live motion, kept while the page is open.

import { readers, type Frame } from "../state";

const size = 3600; // frames: half an hour, two a second

const times = new Float64Array(size);
const values = new Map<string, Float32Array>();
let next = 0; // frames taken so far
let ring = 0; // home of the frames

/** A beginning of motion. */
export interface Moment {
  at: number;
  room: string;
}

export const moments: Moment[] = [];
let moved: number | null = null;

/**
 * How strong the motion of a link is; NaN for no data. Below 1, the line, it feels something and
 * reports no motion; above it the intensity of the motion counts, up to 3.
 */
function strength(frame: Frame, i: number): number {
  const intensity = frame.data.mkai[i];
  if (intensity === null || intensity === undefined) return NaN;
  return intensity > 0 ? 1 + 2 * intensity : 0.95 * Math.min(1, frame.data.lraw[i] ?? 0);
}

function take(frame: Frame) {
  const at = next++ % size;
  times[at] = frame.ts;
  for (const line of values.values()) line[at] = NaN;
  frame.links.forEach((link, i) => {
    let line = values.get(link);
    if (!line) values.set(link, (line = new Float32Array(size).fill(NaN)));
    line[at] = strength(frame, i);
  });
  if (frame.motion_tripped === 1 && moved === 0) moments.push({ at: frame.ts, room: frame.loc_name });
  if (moments.length > 100) moments.shift();
  moved = frame.motion_tripped;
}

/** Keeps the frames of a home from now on, until what is returned is called. */
export function record(home: number): () => void {
  if (ring !== home) {
    next = 0;
    values.clear();
    moments.length = 0;
    ring = home;
  }
  readers.add(take);
  return () => readers.delete(take);
}

/** The links that were heard of, by name. */
export const heard = (): string[] => [...values.keys()].sort();

/** What was seen of some links together, in steps up to a time: the highest of each, null for no data. */
export function past(links: string[], to: number, step: number, steps: number): (number | null)[] {
  const out = new Array<number | null>(steps).fill(null);
  const from = to - step * steps;
  for (let n = next - 1; n >= Math.max(0, next - size); n--) {
    const at = n % size;
    if (times[at] < from) break;
    const k = Math.floor((times[at] - from) / step);
    if (k < 0 || k >= steps) continue;
    for (const link of links) {
      const v = values.get(link)?.[at];
      if (v !== undefined && v === v && (out[k] === null || v > out[k])) out[k] = v;
    }
  }
  return out;
}
