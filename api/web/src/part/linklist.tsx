// The links of a home, and why they sense or cannot.

import { useAnswer, type Answer } from "../answer";
import { to } from "../route";
import { su, suCode } from "../words/setup";
import { figures, type DeviceRef, type SetupHome } from "./setup";

/** Why a link is blind or limited. */
export interface LinkReason {
  code: string;
  figures: Record<string, number> | null;
}

/** A link as GET /web/v1/links tells of it. */
export interface SensingLink {
  id: string;
  from: DeviceRef;
  to: DeviceRef;
  zone: string; // the room that it serves, "" for none
  can: "decides" | "supports" | "blind";
  why: LinkReason[];
  rate: number | null; // frames/s
  rssi: number | null; // dBm
  amplitude: number | null;
  missing: number | null; // share of the last minute without data
  calibration: "none" | "running" | "done";
  calibrated_at: number | null;
  progress: number | null; // of a calibration, 0 to 1
  threshold: number | null; // in the scale
  scale: "coherence" | "power" | "";
  disturbed: boolean;
  unauthenticated: boolean; // one of its nodes has no password
  heard: number | null;
  last_motion: number | null;
}

export interface Links {
  ts: number;
  links: SensingLink[];
}

/** The links of a home, asked for again and again while they are looked at. */
export const useLinks = (home: SetupHome | null, every = 5): Answer<Links> => useAnswer<Links>(home && `/web/v1/links?network_id=${home.id}`, every);

const refName = (d: DeviceRef) => d.name || su("suDeviceUnnamed");

/** What a link is called: "Speaker – Gateway". */
export const linkName = (l: { from: DeviceRef; to: DeviceRef }) => su("suBetween", { from: refName(l.from), to: refName(l.to) });

/** A reason in words, and what to do about it. */
export function Reason({ reason }: { reason: LinkReason }) {
  const values = figures(reason.figures);
  return <>{suCode("rl_", reason.code, values) || reason.code} <strong>{suCode("rl_", reason.code + "_do", values)}</strong></>;
}

/** The links, each with what it can do and the first reason why. */
export function LinkList({ links }: { links: SensingLink[] }) {
  return (
    <ul class="su-links">
      {links.map((l) => (
        <li key={l.id} class={"su-" + l.can}>
          <span class="su-sign" aria-hidden="true" />
          <div class="su-what">
            <p><a href={to("links", l.id)}>{linkName(l)}</a> <span class="su-state">{suCode("suCan_", l.can)}{l.unauthenticated && " · " + su("suLinkOpen")}</span></p>
            <small>{l.zone ? su("suServes", { room: l.zone }) : su("suServesNone")}</small>
            {l.can !== "decides" && l.why[0] && <p class="su-why"><Reason reason={l.why[0]} /></p>}
          </div>
        </li>
      ))}
    </ul>
  );
}
