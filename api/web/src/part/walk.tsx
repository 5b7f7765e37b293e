// The walk test: somebody walks through a room, and the box says whether it senses that. It runs on
// the box: this page shows it, and may be closed.

import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { call } from "../api";
import { to } from "../route";
import { list, refusal } from "../text";
import { su, suCode } from "../words/setup";
import { countdown, figure, useClock, type DeviceRef, type SetupHome } from "./setup";

/** A link that felt somebody walk: of its peak, from threshold on it is motion. */
export interface WalkLink {
  id: string;
  from: DeviceRef;
  to: DeviceRef;
  peak: number;
  threshold: number;
  crossed: boolean; // it has started motion
}

export interface WalkRoom {
  room: string;
  state: "waiting" | "walking" | "seen" | "unseen"; // waiting: until the home is still
  after: number | null; // s from the walk's start until it was seen
  why: string; // code of why it is unseen: no_links, blind, elsewhere, below
  elsewhere: string; // room where motion was sensed instead, "" for none
  links: WalkLink[];
}

export interface WalkTest {
  id: string; // "": there was none since the box was started
  running: boolean;
  started_at: number | null;
  ends_at: number | null;
  room: string; // that is walked now, "" for none
  moving: string[]; // rooms that have to become still before the walk begins
  rooms: WalkRoom[];
}

/** A room that can be walked: links is how many serve it, able how many of them can sense. */
export interface WalkPlace {
  room: string;
  links: number;
  able: number;
}

const path = (home: SetupHome) => `/web/v1/walk-tests?network_id=${home.id}`;

/** The walk test of a home: the one that runs, else the last one. */
export const useWalk = (home: SetupHome, every = 1): Answer<WalkTest> => useAnswer<WalkTest>(path(home), every);

const linkName = (l: WalkLink) => su("suBetween", { from: l.from.name || su("suDeviceUnnamed"), to: l.to.name || su("suDeviceUnnamed") });

/** The rooms of a home's links. */
export function placesOf(links: { zone: string; can: string }[], rooms: string[]): WalkPlace[] {
  const names = [...new Set([...rooms, ...links.map((l) => l.zone).filter(Boolean)])].sort((a, b) => a.localeCompare(b));
  return names.map((room) => {
    const own = links.filter((l) => l.zone === room);
    return { room, links: own.length, able: own.filter((l) => l.can !== "blind").length };
  });
}

/** Runs a walk test, or shows the one that another phone runs. ts: the appliance's time in some answer of now. titled: the page's heading says what walkSaid says. */
export function Walk({ home, places, answer, ts, titled = false }: { home: SetupHome; places: WalkPlace[]; answer: Answer<WalkTest>; ts: number; titled?: boolean }) {
  const test = answer.value;
  const now = useClock(ts);
  const left = useSignal<string[] | null>(null); // rooms not to be walked, as somebody has said; null: nobody has
  const busy = useSignal(false);
  const wrong = useSignal("");
  const act = async (method: string, body?: object) => {
    busy.value = true;
    wrong.value = "";
    try {
      await (body ? call(method, "/web/v1/walk-tests", { network_id: home.id, ...body }) : call(method, path(home)));
      await answer.again();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const unlinked = places.filter((p) => p.links === 0).map((p) => p.room);
  const skipped = left.value ?? unlinked;
  const choose = (room: string, on: boolean) => (left.value = on ? (left.value ?? unlinked).filter((r) => r !== room) : [...(left.value ?? unlinked), room]);
  const seen = useRef(new Set<string>()); // also in earlier tests
  const tried = (room: string) => test?.rooms.some((r) => r.room === room && r.state === "unseen") ?? false;
  for (const r of test?.rooms ?? []) {
    if (r.state === "seen") seen.current.add(r.room);
    if (r.state === "unseen") seen.current.delete(r.room);
  }
  const wanted = places.map((p) => p.room).filter((r) => !skipped.includes(r));
  const open = wanted.filter((r) => !seen.current.has(r));
  const first = open.find((r) => !tried(r)) ?? open[0] ?? wanted[0];
  if (places.length === 0) return <div class="su-teach"><p><strong>{su("suWalkNoRooms")}</strong></p><p>{su("suWalkNoRoomsHelp")}</p></div>;
  return (
    <div class="su-walk">
      {test?.running
        ? <Running test={test} now={now} places={places} wanted={open} titled={titled} busy={busy.value} act={act} />
        : <Choose owner={titled && home.role !== ""} test={test} places={places} skipped={skipped} choose={choose} first={first} busy={busy.value || !test} act={act} />}
      <p class="wrong" role="alert">{wrong}</p>
    </div>
  );
}

type Act = (method: string, body?: object) => Promise<void>;

/** Which rooms to walk, and what the last test found. */
function Choose({ owner, test, places, skipped, choose, first, busy, act }: { owner: boolean; test: WalkTest | undefined; places: WalkPlace[]; skipped: string[]; choose: (room: string, on: boolean) => void; first: string | undefined; busy: boolean; act: Act }) {
  const id = useId();
  const walked = (test?.rooms ?? []).filter((r) => r.state === "seen" || r.state === "unseen");
  return (
    <>
      {walked.length > 0 && <Results rooms={walked} places={places} />}
      <p>{su("suWalkHow")}</p>
      <p><small>{su("suWalkOther")}{owner && " " + su("suWalkInstallers")}</small></p>
      <fieldset class="su-rooms">
        <legend>{su("suWalkRooms")}</legend>
        {places.map((p, i) => (
          <label key={p.room} class="check" for={`${id}${i}`}>
            <input id={`${id}${i}`} type="checkbox" checked={!skipped.includes(p.room)} onChange={(e) => choose(p.room, e.currentTarget.checked)} />
            <span>{p.room} {p.links === 0 && <small>{su("suWalkNoLink")}</small>}</span>
          </label>
        ))}
      </fieldset>
      <div class="row"><button class="main" disabled={busy || !first} onClick={() => act("POST", { room: first })}>{first ? su("suWalkStart", { room: first }) : su("suWalkStartNone")}</button></div>
    </>
  );
}

/** The room that is walked now. */
const currentOf = (test: WalkTest) => test.rooms.find((r) => r.room === test.room) ?? test.rooms.find((r) => r.state === "walking");

/** What the walk of now says, in a sentence. */
export function walkSaid(test: WalkTest): string {
  const current = currentOf(test);
  if (!current) return "";
  const words = { waiting: "suWalkStill", walking: "suWalkNow", seen: "suWalkSeen", unseen: "suWalkUnseen" } as const;
  return su(words[current.state], { room: current.room });
}

/** The walk of now. */
function Running({ test, now, places, wanted, titled, busy, act }: { test: WalkTest; now: number; places: WalkPlace[]; wanted: string[]; titled: boolean; busy: boolean; act: Act }) {
  const current = currentOf(test);
  const before = test.rooms.filter((r) => r !== current && r.state !== "waiting");
  const next = wanted.find((r) => r !== current?.room && !before.some((w) => w.room === r));
  if (test.room === "") return <p role="status">{su("suWalkForeign", { time: countdown((test.ends_at ?? now) - now) })}</p>; // of somebody else, which an installer only sees to run
  const under = current?.state === "walking" || current?.state === "waiting";
  return (
    <>
      {current && (
        <section class={"su-now su-" + current.state}>
          <h2 class={titled ? "hidden" : undefined} role="status">{walkSaid(test)}</h2>
          {current.state === "waiting" && <p>{test.moving.length > 0 ? su("suWalkMoving", { rooms: list(test.moving) }) : su("suWalkReady")}</p>}
          <Room room={current} place={places.find((p) => p.room === current.room)} />
          <p><small>{su("suWalkLeft", { time: countdown((test.ends_at ?? now) - now) })}</small></p>
        </section>
      )}
      <div class="row">
        {next && <button class={under ? undefined : "main"} disabled={busy} onClick={() => act("PUT", { room: next })}>{su("suWalkNext", { room: next })}</button>}
        {current && !under && <button disabled={busy} onClick={() => act("PUT", { room: current.room })}>{su("suWalkAgain")}</button>}
        <button class={!next && !under ? "main" : undefined} disabled={busy} onClick={() => act("DELETE")}>{su("suWalkEnd")}</button>
      </div>
      {before.length > 0 && <Results rooms={before} places={places} />}
    </>
  );
}

/** What was found in the rooms that were walked. */
function Results({ rooms, places }: { rooms: WalkRoom[]; places: WalkPlace[] }) {
  return (
    <ul class="su-results">
      {rooms.map((r) => (
        <li key={r.room} class={"su-" + r.state}>
          <p><span class="su-sign" aria-hidden="true" /> <strong>{r.room}</strong> <span class="su-state">{suCode("suWalkState_", r.state)} {r.after !== null && su("suWalkSeenIn", { n: figure(r.after) })}</span></p>
          <Room room={r} place={places.find((p) => p.room === r.room)} />
        </li>
      ))}
    </ul>
  );
}

/** Which links felt the walk, and what to do where none did enough. */
function Room({ room, place }: { room: WalkRoom; place: WalkPlace | undefined }) {
  const share = (l: WalkLink) => (l.threshold > 0 ? Math.round((100 * l.peak) / l.threshold) : 0);
  const links = [...room.links].sort((a, b) => share(b) - share(a));
  const over = links.filter((l) => l.crossed);
  const most = links[0] ? share(links[0]) : 0;
  return (
    <>
      {room.state === "seen" && over.length > 0 && <p>{su("suWalkSeenBy", { links: list(over.map(linkName)) })}</p>}
      {room.state === "walking" && links[0] && (
        <p class="su-meter"><meter min={0} max={100} value={Math.min(100, most)} aria-label={su("suWalkStrongest", { link: linkName(links[0]), n: most })} /> <small>{su("suWalkStrongest", { link: linkName(links[0]), n: most })}</small></p>
      )}
      {room.state !== "seen" && room.elsewhere && <p>{su("suWalkElsewhere", { room: room.elsewhere })}</p>}
      {room.state === "unseen" && <Advice room={room} place={place} most={most} />}
    </>
  );
}

/** What to do about a room where nobody was seen. */
function Advice({ room, place, most }: { room: WalkRoom; place: WalkPlace | undefined; most: number }) {
  const why = room.why || (!place || place.links === 0 ? "no_links" : place.able === 0 ? "blind" : room.elsewhere ? "elsewhere" : "below");
  const said = suCode("suWalkAdvice_", why, { room: room.room, other: room.elsewhere, n: most });
  return <p class="su-why"><strong>{said}</strong> {why !== "no_links" && <a href={to("links")}>{su("suWalkWhy")}</a>}</p>;
}
