// The devices of a home: what is wrong with them, who waits to be let in, and what they are called.

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { call } from "../api";
import { to } from "../route";
import { ago, refusal, span, t } from "../text";
import { su, suCode } from "../words/setup";
import { useAct } from "./act";
import { sure } from "./dialog";
import { Arrives, type OtherNode } from "./othernode";
import { Waiting } from "./page";
import { countdown, figures, useClock, type SetupHome } from "./setup";

/** A device as GET /web/v1/devices tells of it. */
export interface Device {
  id: number | null; // null: it is not let in
  kind: "node" | "leaf";
  device_id: string;
  name: string;
  room: string;
  state: "online" | "offline" | "waiting" | "refused";
  why: string; // code, "" while it is fine
  figures: Record<string, number | string | null> | null;
  address: string;
  heard: number | null;
  rate: number | null;
  rssi: number | null;
  entry: string; // by which it is let in, "" when it is
  node?: OtherNode; // of another maker
}

export interface Devices {
  ts: number;
  window_until: number | null; // until when new devices are let in
  devices: Device[]; // those with a problem first
}

const path = (home: SetupHome, rest = "") => `/web/v1/devices${rest}?network_id=${home.id}`;

/** The devices of a home, asked for each so many seconds while they are looked at. */
export const useDevices = (home: SetupHome, every = 3): Answer<Devices> => useAnswer<Devices>(path(home), every);

/** What a device is called. */
export const deviceName = (d: { name: string; device_id?: string }) => d.name || d.device_id || su("suDeviceUnnamed");

/** The rooms that devices have, by name. */
export const roomsOf = (devices: { room: string }[]) => [...new Set(devices.map((d) => d.room).filter(Boolean))].sort((a, b) => a.localeCompare(b));

/** Lets new devices in for ten minutes, and says how long still. */
export function AdoptionWindow({ home, answer }: { home: SetupHome; answer: Answer<Devices> }) {
  const wrong = useSignal("");
  const busy = useSignal(false);
  const now = useClock(answer.value?.ts);
  const until = answer.value?.window_until ?? 0;
  const open = until > now;
  const turn = async () => {
    busy.value = true;
    wrong.value = "";
    try {
      await (open ? call("DELETE", path(home, "/adoption")) : call("POST", "/web/v1/devices/adoption", { network_id: home.id }));
      await answer.again();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <div class="su-window" data-open={open || undefined}>
      <p>
        <span aria-hidden="true">{open ? su("suWindowOpen", { time: countdown(until - now) }) : su("suWindowShut")}</span>
        <span class="hidden" role="status">{open ? su("suWindowOpen", { time: span(until - now) }) : su("suWindowShut")}</span>
      </p>
      <button class={open ? undefined : "main"} disabled={busy.value || !answer.value} onClick={turn}>{su(open ? "suShut" : "suOpen")}</button>
      <p class="wrong" role="alert">{wrong}</p>
    </div>
  );
}

/** Codes of an online device that does nothing wrong: others sense in its place. */
const idle = ["low_score", "link_limit", "guardian_decides", "paused", "just_begun"];

/** Whether a device needs somebody to look after it. */
export const troubled = (d: Device) => d.state !== "waiting" && (d.state !== "online" || (d.why !== "" && !idle.includes(d.why)));

/** The devices, in three parts: those that need attention, those that wait, those that are fine. first: in the first run, which asks for rooms later. */
export function DeviceList({ home, answer, first = false }: { home: SetupHome; answer: Answer<Devices>; first?: boolean }) {
  const all = answer.value?.devices ?? [];
  const now = useClock(answer.value?.ts);
  const rooms = roomsOf(all);
  const part = (title: "suWaitingTitle" | "suProblems" | "suFineTitle", devices: Device[]) =>
    devices.length > 0 && (
      <section class="su-part">
        <h2>{su(title)}</h2>
        <ul>{devices.map((d) => <Row key={d.entry || d.kind + d.id} home={home} device={d} now={now} rooms={rooms} all={all} first={first} again={answer.again} />)}</ul>
      </section>
    );
  return (
    <>
      <Waiting answer={answer} />
      {answer.value && all.length === 0 && <Empty />}
      {part("suWaitingTitle", all.filter((d) => d.state === "waiting"))}
      {part("suProblems", all.filter(troubled))}
      {part("suFineTitle", all.filter((d) => d.state !== "waiting" && !troubled(d)))}
    </>
  );
}

/** Says what to plug in. */
const Empty = () => (
  <div class="su-teach">
    <svg viewBox="0 0 96 64" width="96" height="64" aria-hidden="true">
      <rect x="8" y="32" width="34" height="18" rx="4" /><path d="M18 32V18M32 32V18M16 42h1M24 42h1M60 14v12M70 14v12M54 26h22v8a11 11 0 0 1-22 0zM65 45v13" />
    </svg>
    <p><strong>{su("suNoDevices")}</strong></p>
    <p>{su("suNoDevicesHelp")}</p>
  </div>
);

/** Why a device is as it is, and what to do if it is to be helped. */
export function Why({ device }: { device: Device }) {
  if (!device.why) return null;
  const values = figures(device.figures);
  const bare = device.node && device.why === "waiting" ? "like_another" : device.why; // it has no label
  const said = (rest: string) => suCode("rd_", (rest ? bare : device.why) + rest, values) || suCode("rl_", device.why + rest, values);
  return <p class="su-why">{said("") || device.why} {device.state === "waiting" || troubled(device) ? <strong>{said("_do")}</strong> : said("_do")}</p>;
}

/** When something was heard of, and how much it sends. */
export function Heard({ device, now, first = false }: { device: Device; now: number; first?: boolean }) {
  const since = device.heard === null ? su("suNever") : now - device.heard < 60 ? su("suJust") : su("suAgo", { time: ago(now - device.heard) });
  return <small>{[device.room || (first ? "" : su("suNoRoom")), since].filter(Boolean).join(" · ")}</small>;
}

function Row({ home, device, now, rooms, all, first, again }: { home: SetupHome; device: Device; now: number; rooms: string[]; all: Device[]; first: boolean; again: () => Promise<void> }) {
  const editing = useSignal(false);
  const { busy, wrong, act } = useAct(again);
  const name = deviceName(device);
  const known = device.id !== null;
  const why = (!first || device.state === "waiting" || troubled(device)) && <Why device={device} />;
  return (
    <li class={"su-device su-" + (troubled(device) ? "bad" : device.state)}>
      <span class="su-sign" aria-hidden="true" />
      <div class="su-what">
        <p>
          {known ? <a href={to("devices", device.kind, String(device.id))}>{name}</a> : <strong>{device.name || su("suDeviceNew")}</strong>} <span class="su-state">{suCode("suState_", device.state)}</span>
        </p>
        {known ? <Heard device={device} now={now} first={first} /> : <small>{[device.device_id, device.address].filter(Boolean).join(" · ")}</small>}
        {device.node ? <Arrives node={device.node} name={name} why={device.why} known={all}>{why}</Arrives> : why}
        {editing.value && <PlaceForm home={home} device={device} rooms={rooms} done={() => { editing.value = false; return again(); }} />}
        <p class="wrong" role="alert">{wrong}</p>
      </div>
      <div class="su-doings">
        {device.entry && device.state === "waiting" && device.why !== "approved" && (
          <button class="main" disabled={busy.value} onClick={() => act(() => call("POST", `/web/v1/devices/${encodeURIComponent(device.entry)}/adopt`, { network_id: home.id }))}>{su("suAdopt")}<span class="hidden"> {name}</span></button>
        )}
        {known && !first && <button class="su-edit" aria-expanded={editing.value} onClick={() => (editing.value = !editing.value)}>{su("suEdit")}<span class="hidden"> {name}</span></button>}
      </div>
    </li>
  );
}

/** Names a device and places it in a room. */
export function PlaceForm({ home, device, rooms, done }: { home: SetupHome; device: Device; rooms: string[]; done: () => Promise<void> }) {
  const id = useId();
  const name = useSignal(device.name);
  const room = useSignal(device.room);
  const own = useSignal(false);
  const busy = useSignal(false);
  const wrong = useSignal("");
  const offered = [...new Set([...rooms, ...su("suRoomPresets").split("|")])];
  const save = async (e: SubmitEvent) => {
    e.preventDefault();
    busy.value = true;
    wrong.value = "";
    try {
      await call("PUT", "/web/v1/devices/" + device.id, { network_id: home.id, kind: device.kind, name: name.value.trim(), room: room.value.trim() });
      await done();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <form class="su-place" onSubmit={save}>
      <label for={id + "n"}>{su("suName")}</label>
      <input id={id + "n"} maxLength={256} value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} />
      <label for={id + "r"}>{su("suRoom")}</label>
      <select id={id + "r"} value={own.value ? "\n" : room.value} onChange={(e) => { own.value = e.currentTarget.value === "\n"; room.value = own.value ? "" : e.currentTarget.value; }}>
        <option value="">{su("suNoRoom")}</option>
        {offered.map((r) => <option key={r} value={r}>{r}</option>)}
        <option value={"\n"}>{su("suOtherRoom")}</option>
      </select>
      {own.value && (
        <>
          <label for={id + "o"}>{su("suRoomName")}</label>
          <input id={id + "o"} required maxLength={256} value={room.value} onInput={(e) => (room.value = e.currentTarget.value)} />
        </>
      )}
      <p class="wrong" role="alert">{wrong}</p>
      <div class="row"><button class="main" disabled={busy.value}>{t("save")}</button></div>
    </form>
  );
}

/** Asks, and then removes a device; whether it is gone. */
export async function removeDevice(home: SetupHome, device: Device): Promise<boolean> {
  if (!(await sure(su("suRemoveTitle", { name: deviceName(device) }), su("suRemoveText"), su("suRemove")))) return false;
  await call("DELETE", `${path(home, "/" + device.id)}&kind=${device.kind}`);
  return true;
}
