import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { call } from "../api";
import { sure } from "../part/dialog";
import { Waiting } from "../part/page";
import { BridgeUser } from "../part/bridgeuser";
import { countdown, SetupPage, useClock, type SetupProps } from "../part/setup";
import { dayTime } from "../part/when";
import { now } from "../state";
import { language, refusal } from "../text";
import { su, suCode } from "../words/setup";

interface Sensor {
  thingName: string;
  hubThingName: string; // "" for a hub
  deviceType: string;
  purpose: string;
  config: { friendlyName: string; location: string; notify: boolean; online: boolean; status: string; batteryLevel?: number; temperature?: number; humidity?: number };
}

interface Integration {
  integrations: { integrations_enabled: boolean };
}

interface Providers {
  used: string; // "": none
  providers: { name: string; bridge: boolean }[];
}

interface Detection {
  id: string;
  ts: number;
  value: { status?: string; temperature?: number; humidity?: number };
}

const low = 20; // percent of a battery

const sensorName = (s: Sensor) => s.config.friendlyName || suCode("suSensorType_", s.deviceType) || s.thingName;

/** A temperature and a humidity in words. */
function climate(v: { temperature?: number; humidity?: number }): string {
  const n = (value: number, unit: string) => new Intl.NumberFormat(language.value, { style: "unit", unit, maximumFractionDigits: 1 }).format(value);
  return [v.temperature !== undefined && n(v.temperature, "celsius"), v.humidity !== undefined && n(v.humidity, "percent")].filter(Boolean).join(", ");
}

/** What a sensor tells, in words. */
const valueOf = (v: { status?: string; temperature?: number; humidity?: number }) => climate(v) || suCode("suValue_", v.status ?? "") || v.status || su("suValueNone");

/** The sensors of the home and the hubs that they are paired with. */
export function Screen(props: SetupProps) {
  const member = !props.installer, owner = props.home.role === "owner";
  const home = `network_id=${props.home.id}`;
  const integration = useAnswer<Integration>(member ? `/api/v1/sensors/integrations?${home}` : null);
  const providers = useAnswer<Providers>(member ? `/web/v1/sensor-providers?${home}` : null);
  const offers = providers.value?.providers ?? [];
  const used = offers.find((p) => p.name === providers.value?.used);
  const announced = used?.name === "home_assistant";
  const off = integration.refusal?.status === 404 || integration.value?.integrations.integrations_enabled === false;
  const devices = useAnswer<{ devices: Sensor[] }>(member && integration.value && !off ? `/api/v1/sensors/devices?${home}` : null, 5);
  const wrong = useSignal("");
  const act = async (what: () => Promise<unknown>) => {
    wrong.value = "";
    try {
      await what();
      await devices.again();
    } catch (e) {
      wrong.value = refusal(e);
    }
  };
  const change = (what: () => Promise<unknown>) => act(async () => {
    await what();
    await Promise.all([integration.again(), providers.again()]);
  });
  const on = (provider: string) => change(() => call("POST", "/api/v1/sensors/integrations", { network_id: props.home.id, integrations_enabled: true, provider }));
  const named = { name: suCode("suProvider_", used?.name ?? "") };
  const end = () => change(async () => (await sure(su("suSensorsEnd", named), su("suSensorsEndText"), su("suRemove"))) && call("DELETE", `/api/v1/sensors/integrations?${home}`));
  const all = devices.value?.devices ?? [];
  const hubs = all.filter((d) => d.hubThingName === ""), sensors = all.filter((d) => d.hubThingName !== "");
  const truth = !devices.value ? "" : sensors.length === 0 ? su("suSensorsNone") : sensors.length === 1 ? su("suSensorsOne") : su("suSensorsTruth", { n: sensors.length });
  return (
    <SetupPage {...props} title="suSensors" truth={truth}>
      {!member && <p class="note">{su("suMember")}</p>}
      {member && !off && <Waiting answer={integration.value ? devices : integration} />}
      {off && (
        <div class="su-teach">
          <p><strong>{su("suSensorsOff")}</strong></p>
          <p>{su("suSensorsOffHelp")}</p>
          {offers.length > 1 && <p>{su("suAnnounced")}</p>}
          {owner ? offers.map((p) => <button key={p.name} class="main" onClick={() => on(p.name)}>{su("suSensorsOn")}{offers.length > 1 && `: ${suCode("suProvider_", p.name)}`}</button>) : <p>{su("suSensorsOwner")}</p>}
          <Waiting answer={providers} />
        </div>
      )}
      <p class="wrong" role="alert">{wrong}</p>
      {devices.value && (
        <>
          <section class="su-part">
            <h2>{su("suBridge")}</h2>
            {hubs.length === 0 && <p class="note"><strong>{su("suBridgeNone")}</strong> {su(announced ? "suAnnounced" : "suBridgeNoneHelp")}</p>}
            {hubs.map((h) => <Hub key={h.thingName} hub={h} known={sensors} home={props.home.id} pairs={!announced} again={devices.again} />)}
            {owner && used?.bridge && <BridgeUser home={props.home.id} />}
            {owner && used && <div class="row"><button class="bad" onClick={end}>{su("suSensorsEnd", named)}</button></div>}
          </section>
          {sensors.length > 0 && (
            <section class="su-part">
              <h2>{su("suSensors")}</h2>
              <ul class="su-sensors">{sensors.map((s) => <One key={s.thingName} sensor={s} {...props} act={act} />)}</ul>
            </section>
          )}
        </>
      )}
    </SetupPage>
  );
}

/** A hub, and the time in which sensors can join it. */
function Hub({ hub, known, home, pairs, again }: { hub: Sensor; known: Sensor[]; home: number; pairs: boolean; again: Answer<unknown>["again"] }) {
  const until = useSignal(0); // ms
  const before = useSignal<string[]>([]);
  const said = useSignal("");
  const wrong = useSignal("");
  useClock(undefined);
  const left = (until.value - Date.now()) / 1000;
  const joined = known.find((s) => s.hubThingName === hub.thingName && !before.value.includes(s.thingName));
  useEffect(() => {
    if (until.value === 0) return;
    if (joined) said.value = su("suPairNew", { name: sensorName(joined) });
    else if (left <= 0) said.value = su("suPairOver");
    if (joined || left <= 0) until.value = 0;
  });
  const pair = async () => {
    said.value = wrong.value = "";
    before.value = known.map((s) => s.thingName);
    try {
      const got = await call<{ timeout: number }>("POST", `/api/v1/sensors/pair/${encodeURIComponent(hub.thingName)}`, { network_id: home, timeout: 60 });
      until.value = Date.now() + got.timeout * 1000;
      await again();
    } catch (e) {
      wrong.value = refusal(e);
    }
  };
  return (
    <div class="su-hub">
      <p class={hub.config.online ? "su-online" : "su-offline"}><span class="su-sign" aria-hidden="true" /> {su(hub.config.online ? "suBridgeOnline" : "suBridgeOffline", { name: sensorName(hub) })}</p>
      {!hub.config.online && <p class="su-why"><strong>{su("suBridgeOfflineHelp")}</strong></p>}
      {until.value > 0 ? <p class="su-pairing">{su("suPairing", { time: countdown(left) })}</p> : pairs && <div class="row"><button disabled={!hub.config.online} onClick={pair}>{su("suPair")}</button></div>}
      <p role="status">{said}</p>
      <p class="wrong" role="alert">{wrong}</p>
    </div>
  );
}

/** A sensor: what it tells, its battery, the last day and its end. */
function One({ sensor, home, act }: SetupProps & { sensor: Sensor; act: (what: () => Promise<unknown>) => Promise<void> }) {
  const open = useSignal(false);
  const c = sensor.config;
  const name = sensorName(sensor);
  const battery = c.batteryLevel === undefined ? "" : su(c.batteryLevel < low ? "suBatteryLow" : "suBattery", { n: c.batteryLevel });
  const path = `/api/v1/sensors/devices/${encodeURIComponent(sensor.thingName)}`;
  const remove = () => act(async () => (await sure(su("suRemoveTitle", { name }), su("suSensorRemoveText"), su("suRemove"))) && call("DELETE", `${path}?network_id=${home.id}`));
  return (
    <li class={c.online ? "su-online" : "su-offline"}>
      <span class="su-sign" aria-hidden="true" />
      <div class="su-what">
        <p><strong>{name}</strong> <span class="su-state">{c.online ? valueOf(c) : su("suSilent")}</span></p>
        <small>{[c.location || su("suNoRoom"), battery].filter(Boolean).join(" · ")}</small>
        <details onToggle={(e) => (open.value = e.currentTarget.open)}>
          <summary>{su("suMore", { name })}</summary>
          {open.value && (
            <div class="su-detail">
              <label class="check">
                <input type="checkbox" checked={c.notify} onChange={(e) => { const notify = e.currentTarget.checked; void act(() => call("PATCH", path, { network_id: home.id, notify })); }} />
                <span>{su("suSensorKeep")}</span>
              </label>
              <h3>{su("suSensorHistory")}</h3>
              <History thing={sensor.thingName} home={home} kept={c.notify} />
              <div class="row"><button class="bad" onClick={remove}>{su("suRemove")}<span class="hidden"> {name}</span></button></div>
            </div>
          )}
        </details>
      </div>
    </li>
  );
}

const shown = 50; // rows of a history

function History({ thing, home, kept }: { thing: string; home: SetupProps["home"]; kept: boolean }) {
  const from = useSignal(Math.floor((now.peek() || Date.now() / 1000) - 86400));
  const answer = useAnswer<{ detections: Detection[] }>(`/api/v1/sensors/history/${encodeURIComponent(thing)}?network_id=${home.id}&from=${from.value}`, 30);
  const rows = [...(answer.value?.detections ?? [])].sort((a, b) => b.ts - a.ts).slice(0, shown);
  return (
    <>
      <Waiting answer={answer} />
      {answer.value && rows.length === 0 && <p>{su(kept ? "suSensorHistoryNone" : "suSensorHistoryOff")}</p>}
      <ul class="su-told">{rows.map((d) => <li key={d.id}><time>{dayTime(d.ts, home.timezone)}</time> {valueOf(d.value)}</li>)}</ul>
    </>
  );
}
