import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { Arrives, type OtherNode } from "../part/othernode";
import { figures, useSetupStyle } from "../part/setup";
import { codeText, t } from "../text";
import { su, suCode } from "../words/setup";
import { BoxPage } from "./frame";
import { networkName, type Named } from "./keys";
import { ask, New, number, row, since, when } from "./part";

interface Device {
  id: string;
  entry: string | null;
  name: string;
  network_id: number | null;
  state: string;
  address: string;
  last_seen: number | null;
  node?: OtherNode; // of another maker
}

/** Where nodes of other makers are listened for, and what came there since the start. */
interface Intake {
  kind: string;
  at: string;
  state: string; // what is the matter, "" for nothing
  arrived: number;
  frames: number;
  other: number;
  wrong: number;
  foreign: number;
  limited: number;
}

interface Devices {
  devices: Device[];
  windows: { network_id: number | null; until: number }[];
  networks: Named[];
  intakes: Intake[];
}

interface Link {
  network_id: number;
  link: string;
  from: string;
  to: string;
  can: string;
  reasons: { code: string; figures: Record<string, number> }[];
}

/** The devices of all homes, who may come in, and the links that cannot sense. */
export function Devices() {
  const answer = useAnswer<Devices>(row("devices"), 5);
  const styled = useSetupStyle();
  const d = answer.value;
  const known = d?.devices.filter((one) => one.state !== "waiting") ?? [];
  const waiting = d?.devices.filter((one) => one.state === "waiting") ?? [];
  const truth = d && (known.length > 0 ? t("bxOnline", { n: known.filter((one) => one.state === "online").length, total: known.length }) : su("suNoDevices"));
  if (!styled) return <main class="screen" aria-busy="true" />;
  const homes = [...new Set(known.map((one) => one.network_id))];
  return (
    <BoxPage title="suDevices" truth={truth} answer={answer}>
      {d?.windows.map((w) => <p key={w.network_id} class="note" role="status">{t("bxWindowOpen", { home: w.network_id === null ? t("bxNoHome") : networkName(d.networks, w.network_id), time: when(w.until) })}</p>)}
      {d && waiting.length > 0 && (
        <section class="bx-section">
          <h2>{su("suWaitingTitle")}</h2>
          <ul>{waiting.map((one) => <Row key={one.entry} of={one} again={answer.again} />)}</ul>
        </section>
      )}
      {d && homes.map((home) => (
        <section key={home} class="bx-section">
          <h2>{home === null ? t("bxNoHome") : networkName(d.networks, home)}</h2>
          <ul>{known.filter((one) => one.network_id === home).map((one) => <Row key={one.id} of={one} again={answer.again} />)}</ul>
        </section>
      ))}
      {d && <Window of={d} again={answer.again} />}
      {d && d.intakes.length > 0 && <Intakes of={d.intakes} />}
      {d && <Links networks={d.networks} />}
    </BoxPage>
  );
}

function Row({ of: d, again }: { of: Device; again: () => Promise<void> }) {
  const name = d.name || d.id;
  const remove = async () => {
    if (!(await sure(su("suRemoveTitle", { name }), su("suRemoveText"), su("suRemove")))) return;
    await ask("DELETE", "devices/" + encodeURIComponent(d.id));
    await again();
  };
  const adopt = async () => {
    await ask("POST", `devices/${encodeURIComponent(d.entry!)}/adopt`);
    await again();
  };
  return (
    <li class={"su-device su-" + d.state}>
      <span class="su-sign" aria-hidden="true" />
      <div class="su-what">
        <p><strong>{name}</strong> <span class="su-state">{suCode("suState_", d.state) || d.state}</span></p>
        <small>{[d.name && d.id, d.address, d.last_seen === null ? su("suNever") : su("suAgo", { time: since(d.last_seen) })].filter(Boolean).join(" · ")}</small>
        {d.node && <Arrives node={d.node} name={name} why="" />}
      </div>
      <div class="su-doings">
        {d.entry !== null ? <Doing main text={<>{su("suAdopt")}<span class="hidden"> {name}</span></>} run={adopt} /> : <Doing text={<>{su("suRemove")}<span class="hidden"> {name}</span></>} run={remove} />}
      </div>
    </li>
  );
}

/** Lets new devices in for a time. */
function Window({ of: d, again }: { of: Devices; again: () => Promise<void> }) {
  const id = useId();
  const open = async (form: FormData) => {
    await ask("POST", "adoption", { minutes: Number(form.get("minutes")), network_id: Number(form.get("network")) || null });
    await again();
    return "";
  };
  return (
    <New title={t("suOpen")} open={d.devices.length === 0}>
      <p>{t("bxWindowText")}</p>
      <Fields yes={su("suOpen")} send={open}>
        <label for={id + "h"}>{t("bxFor")}</label>
        <select id={id + "h"} name="network">
          <option value="">{t("bxNoHome")}</option>
          {d.networks.map((n) => <option key={n.id} value={n.id}>{networkName(d.networks, n.id)}</option>)}
        </select>
        <label for={id + "m"}>{t("bxMinutes")}</label>
        <input id={id + "m"} name="minutes" type="number" min={1} max={60} required defaultValue="10" />
      </Fields>
    </New>
  );
}

const makers: Record<string, string> = { ruview: "RuView", "micro-espectre": "Micro-ESPectre", espectre: "ESPectre", lines: "esp-csi", mqtt: "MQTT" };

/** Where nodes of other makers are listened for. */
const Intakes = ({ of }: { of: Intake[] }) => (
  <section class="bx-section">
    <h2>{t("bxIntakes")}</h2>
    <ul>
      {of.map((i) => (
        <li key={i.kind + i.at} class={"su-device su-" + (i.state ? "bad" : "online")}>
          <span class="su-sign" aria-hidden="true" />
          <div class="su-what">
            <p><strong>{makers[i.kind] ?? i.kind}</strong> <span class="su-state">{i.at}</span></p>
            {i.state && <p class="su-why"><strong>{i.state}</strong></p>}
            <p>{t("bxIntakeArrived", { arrived: number(i.arrived), frames: number(i.frames) })}</p>
            <small hidden={i.other + i.wrong + i.foreign + i.limited === 0}>{(["other", "wrong", "foreign", "limited"] as const).filter((what) => i[what] > 0).map((what) => codeText("bxIntake_", what, { n: number(i[what]) })).join(" · ")}</small>
          </div>
        </li>
      ))}
    </ul>
  </section>
);

/** The links that cannot sense, and why. */
function Links({ networks }: { networks: Named[] }) {
  const answer = useAnswer<{ links: Link[] }>(row("links"), 15);
  const begun = useSignal("");
  const all = answer.value?.links ?? [];
  const blind = all.filter((l) => l.can === "blind");
  if (!answer.value) return null;
  const calibrate = async (l: Link) => {
    const running = begun.value === l.link;
    if (running) await ask("DELETE", `calibrations?network_id=${l.network_id}&link=${encodeURIComponent(l.link)}`);
    else await ask("POST", "calibrations", { network_id: l.network_id, link: l.link });
    begun.value = running ? "" : l.link;
    await answer.again();
    return running ? "" : t("bxCalibrating");
  };
  const reason = (l: Link) => {
    if (!l.reasons[0]) return null;
    const { code, figures: of } = l.reasons[0];
    const values = figures(of);
    return <p class="su-why">{suCode("rl_", code, values) || code} <strong>{suCode("rl_", code + "_do", values)}</strong></p>;
  };
  return (
    <section class="bx-section">
      <h2>{t("bxBlind")}</h2>
      {blind.length === 0 && <p>{t("bxBlindNone")}</p>}
      <ul>
        {blind.map((l) => (
          <li key={l.network_id + l.link} class="su-device su-blind">
            <span class="su-sign" aria-hidden="true" />
            <div class="su-what"><p><strong>{su("suBetween", { from: l.from, to: l.to })}</strong></p><small>{networkName(networks, l.network_id)}</small>{reason(l)}</div>
            <div class="su-doings"><Doing text={<>{su(begun.value === l.link ? "suCalibrateCancel" : "suCalibrate")}<span class="hidden"> {su("suBetween", { from: l.from, to: l.to })}</span></>} run={() => calibrate(l)} /></div>
          </li>
        ))}
      </ul>
    </section>
  );
}
