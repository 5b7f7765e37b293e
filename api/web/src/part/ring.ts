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
 * What a link feels, in shares of its own threshold: from 1 on it notices motion. NaN for no data. A
 * device that tells no threshold tells alone whether it was exceeded: then the intensity stands for it.
 */
function strength(frame: Frame, i: number): number {
  const intensity = frame.data.mkai[i];
  if (intensity === null || intensity === undefined) return NaN;
  const reach = frame.data.reach[i];
  if (reach !== null && reach !== undefined) return reach;
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

/** What was seen in steps: of each link a column of the steps before end, in a ring by their numbers. */
const seen = { step: 0, steps: 0, end: 0, taken: 0, home: 0, links: new Map<string, Float32Array>() };

/** Brings what was seen up to the step that ends at a time, from the frames that are new since. */
function bring(to: number, step: number, steps: number) {
  const end = Math.round(to / step);
  if (seen.step !== step || seen.steps !== steps || seen.home !== ring || end < seen.end) {
    Object.assign(seen, { step, steps, end: end - steps, taken: Math.max(0, next - size), home: ring });
    seen.links.clear();
  }
  seen.taken = Math.max(seen.taken, next - size);
  for (const column of seen.links.values()) for (let k = Math.max(seen.end, end - steps); k < end; k++) column[k % steps] = NaN;
  seen.end = end;
  for (; seen.taken < next && times[seen.taken % size] < end * step; seen.taken++) {
    const at = seen.taken % size;
    const k = Math.floor(times[at] / step);
    if (k < end - steps || k >= end) continue;
    for (const [link, line] of values) {
      const v = line[at];
      if (v !== v) continue;
      let column = seen.links.get(link);
      if (!column) seen.links.set(link, (column = new Float32Array(steps).fill(NaN)));
      if (!(column[k % steps] >= v)) column[k % steps] = v;
    }
  }
}

/** What was seen of some links together, in steps up to a time: the highest of each, null for no data. */
export function past(links: string[], to: number, step: number, steps: number): (number | null)[] {
  bring(to, step, steps);
  const out = new Array<number | null>(steps).fill(null);
  for (const link of links) {
    const column = seen.links.get(link);
    if (!column) continue;
    for (let i = 0; i < steps; i++) {
      const v = column[(seen.end - steps + i) % steps];
      if (v === v && (out[i] === null || v > out[i]!)) out[i] = v;
    }
  }
  return out;
}
