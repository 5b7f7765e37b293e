// How the home is while it is set up, told live: what has changed, and while a walk test runs how each
// link feels motion.

import { useEffect, useRef, useState } from "preact/hooks";
import { live } from "../api";
import type { SetupHome } from "./setup";

/** A link as it is now. */
interface LiveLink {
  id: string;
  room: string;
  value: number; // in the link's own scale
  threshold: number; // from where on it starts motion
  moves: boolean;
}

/** What has changed. */
interface Message {
  ts: number;
  devices?: unknown;
  links?: unknown;
  walk?: unknown;
  live?: LiveLink[]; // while a walk test runs
}

const kept = 60; // s

/** How links felt motion in the last minute: 1 is from where on it counts. */
export interface Felt {
  ts: number; // of the newest
  of: Map<string, { at: number; value: number }[]>;
}

const strength = (l: LiveLink) => (l.threshold > 0 ? l.value / l.threshold : l.moves ? 1 : 0);

/** Keeps what links feel now, and drops what is older than a minute. */
function keep(felt: Felt, { ts, live }: Message) {
  felt.ts = ts;
  for (const l of live ?? []) felt.of.set(l.id, [...(felt.of.get(l.id) ?? []).filter((v) => v.at > ts - kept), { at: ts, value: strength(l) }]);
}

/**
 * Follows the installation of a home, and calls again of what has changed. Whether it is connected, and
 * what links feel while a walk test runs.
 */
export function useInstallation(home: SetupHome | null, again: { devices?: () => void; links?: () => void; walk?: () => void }): { up: boolean; felt: Felt } {
  const [up, setUp] = useState(false);
  const [, tick] = useState(0);
  const felt = useRef<Felt>({ ts: 0, of: new Map() });
  const call = useRef(again);
  call.current = again;
  useEffect(() => {
    if (!home) return;
    const take = (m: Message) => {
      for (const part of ["devices", "links", "walk"] as const) if (m[part]) call.current[part]?.();
      if (!m.live?.length) return;
      keep(felt.current, m);
      tick((n) => n + 1);
    };
    const socket = live(`/web/v1/installation?network_id=${home.id}`, take, setUp, () => setUp(false));
    return () => {
      socket.close();
      setUp(false);
    };
  }, [home?.id]);
  return { up, felt: felt.current };
}

/** What a link felt in steps up to the newest moment, null for no data. */
export function feltBy(felt: Felt, link: string, step: number, steps: number): (number | null)[] {
  const out = new Array<number | null>(steps).fill(null);
  for (const { at, value } of felt.of.get(link) ?? []) {
    const k = Math.floor((at - (felt.ts - step * steps)) / step);
    if (k >= 0 && k < steps) out[k] = Math.max(out[k] ?? 0, value);
    else if (k === steps) out[steps - 1] = Math.max(out[steps - 1] ?? 0, value);
  }
  return out;
}
