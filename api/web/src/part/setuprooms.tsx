// The fifth step: which room each device is in.

import { signal, useSignal } from "@preact/signals";
import { call } from "../api";
import { list, refusal, t } from "../text";
import { su } from "../words/setup";
import { deviceName, roomsOf, useDevices, type Device } from "./devicelist";
import { Waiting } from "./page";
import { useSetupStyle } from "./setup";
import { Frame, Onward, type Shown } from "./setupframe";
import { placesOf } from "./walk";

const other = "\n"; // the choice of a room that has no name yet

const wordsOf = (text: string, least = 3) => text.toLowerCase().split(/[^\p{L}]+/u).filter((w) => w.length >= least);

/** The room that a device's name speaks of, "" for none: "Hall extender" stands in the hallway, a fridge in the kitchen. */
export function proposed(name: string, rooms: string[]): string {
  const words = wordsOf(name, 2);
  const usual = t("frRoomHints").split("|").find((hint) => wordsOf(hint.split("=")[1], 2).some((w) => words.includes(w)))?.split("=")[0] ?? "";
  const says = (room: string) => wordsOf(room).every((r) => words.some((w) => r === w || (w.length >= 4 && r.startsWith(w)) || (r.length >= 4 && w.startsWith(r))));
  return rooms.find((room) => wordsOf(room).length > 0 && says(room)) ?? usual;
}

interface Links {
  links: { zone: string; can: string }[];
}

const keyOf = (d: Device) => d.kind + d.id;

const choices = signal<Record<string, string>>({}); // what was chosen here, by home and device: the way back loses none

export function Rooms(shown: Shown) {
  const answer = useDevices(shown.home);
  const linksPath = `/web/v1/links?network_id=${shown.home.id}`;
  const of = (d: Device) => `${shown.home.id} ${keyOf(d)}`;
  const failed = useSignal("");
  const saving = useSignal(false);
  const unserved = useSignal<string[] | undefined>(undefined); // the rooms without a link, once they were told
  const styled = useSetupStyle();
  const devices = (answer.value?.devices ?? []).filter((d) => d.id !== null);
  const offered = styled ? [...new Set([...roomsOf(devices), ...su("suRoomPresets").split("|")])] : [];
  const roomOf = (d: Device) => choices.value[of(d)] ?? (d.room || proposed(d.name, offered));
  const rooms = roomsOf(devices.map((d) => ({ room: roomOf(d).trim() })));
  const save = async () => {
    failed.value = "";
    saving.value = true;
    try {
      for (const d of devices) {
        const room = roomOf(d).trim();
        if (room !== d.room) await call("PUT", "/web/v1/devices/" + d.id, { network_id: shown.home.id, kind: d.kind, room });
      }
      await answer.again();
      choices.value = Object.fromEntries(Object.entries(choices.value).filter(([, room]) => room === "")); // the others are kept on the box
      const found = (await call<Links>("GET", linksPath)).links;
      const without = placesOf(found, rooms).filter((p) => p.links === 0).map((p) => p.room);
      const told = unserved.value !== undefined && without.every((room) => unserved.value!.includes(room));
      unserved.value = without;
      if (told || without.length === 0) await shown.next();
    } catch (e) {
      failed.value = refusal(e);
      await answer.again();
    }
    saving.value = false;
  };
  const wrong = failed.value ? <p class="wrong" role="alert">{failed}</p> : shown.wrong;
  return (
    <Frame step="rooms" title={t("frRoomsTitle")} home={shown.home}>
      <p>{t("frRoomsWhy")}</p>
      {styled ? <Waiting answer={answer} /> : <p class="loading" aria-busy="true">{t("loading")}</p>}
      {styled && answer.value && devices.length === 0 && <p class="note">{t("frRoomsNone")}</p>}
      {styled && (
        <ul class="fr-devices">
          {devices.map((d) => <Row key={keyOf(d)} device={d} room={roomOf(d)} guessed={d.room === "" && choices.value[of(d)] === undefined && roomOf(d) !== ""} offered={offered} choose={(room) => (choices.value = { ...choices.value, [of(d)]: room })} />)}
        </ul>
      )}
      {unserved.value && unserved.value.length > 0 && <p class="note fr-warn" role="alert">{t("frRoomsUnserved", { rooms: list(unserved.value) })}</p>}
      <Onward shown={{ ...shown, wrong, busy: shown.busy || saving.value || !answer.value }} yes={t(unserved.value?.length ? "frAnyway" : "goOn")} run={save} />
    </Frame>
  );
}

function Row({ device, room, guessed, offered, choose }: { device: Device; room: string; guessed: boolean; offered: string[]; choose: (room: string) => void }) {
  const own = useSignal(false);
  const id = "fr" + keyOf(device);
  const named = room === "" || offered.includes(room) || own.value ? offered : [room, ...offered];
  const pick = (value: string) => {
    own.value = value === other;
    choose(own.value ? "" : value);
  };
  return (
    <li>
      <label for={id}>{deviceName(device)}</label>
      <select id={id} aria-describedby={guessed ? id + "g" : undefined} value={own.value ? other : room} onChange={(e) => pick(e.currentTarget.value)}>
        <option value="">{su("suNoRoom")}</option>
        {named.map((r) => <option key={r} value={r}>{r}</option>)}
        <option value={other}>{su("suOtherRoom")}</option>
      </select>
      {own.value && <input aria-label={su("suRoomName")} maxLength={256} value={room} onInput={(e) => choose(e.currentTarget.value)} />}
      {guessed && <small id={id + "g"}>{t("frRoomGuessed")}</small>}
    </li>
  );
}
