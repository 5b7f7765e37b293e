import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { counted } from "../part/when";
import { codeText, t } from "../text";
import { BoxPage } from "./frame";
import { networkName, type Named } from "./keys";
import { ask, New, number, Once, row, since, type Secret } from "./part";

interface Uplink {
  name: string;
  to: string; // host and port; "own" is the box's own broker
  uses: string[];
  networks: number[]; // none: all
  configured: boolean; // in the file of the configuration
  state: string;
  since: number | null;
  wrong: string; // in English; empty: nothing
  waiting: number;
  sent: number;
  dropped: number;
  missing: number;
}

interface Step {
  code: string;
  ok: boolean;
  text: string;
}

interface Answer {
  uplinks: Uplink[];
  networks: Named[];
}

const kinds = ["broker", "own", "mqtt", "series"] as const;
const uses = ["home_assistant", "events", "history", "live", "commands"];

/** What goes to other brokers and services, and what of that waits. */
export function Uplinks() {
  const answer = useAnswer<Answer>(row("uplinks"), 5);
  const secret = useSignal<Secret | undefined>(undefined);
  const list = answer.value?.uplinks;
  const bad = list?.filter((u) => u.state !== "connected");
  const truth = list && (list.length === 0 ? t("bxUpNone") : bad!.length > 0 ? t("bxUpBad", { name: bad![0].name }) : counted("bxUpTruth", list.length));
  return (
    <BoxPage title="bxUplinks" truth={truth} answer={answer} under={t("bxUpText")}>
      {secret.value && <Once key={secret.value.title} of={secret.value} done={() => (secret.value = undefined)} />}
      {list?.map((u) => <One key={u.name} of={u} networks={answer.value!.networks} again={answer.again} />)}
      {list && <Make networks={answer.value!.networks} open={list.length === 0} show={(s) => (secret.value = s)} again={answer.again} />}
    </BoxPage>
  );
}

/** An uplink: what it sends to whom, and how that goes. */
function One({ of: u, networks, again }: { of: Uplink; networks: Named[]; again: () => Promise<void> }) {
  const steps = useSignal<Step[] | undefined>(undefined);
  const test = async () => {
    steps.value = (await ask<{ steps: Step[] }>("POST", `uplinks/${u.name}/test`)).steps;
  };
  const remove = async () => {
    if (!(await sure(t("remove", { name: u.name }), t("bxUpWhy"), t("removeYes")))) return;
    await ask("DELETE", "uplinks/" + u.name);
    await again();
  };
  const homes = u.networks.length === 0 ? t("bxAllHomes") : u.networks.map((n) => networkName(networks, n)).join(", ");
  return (
    <section class="card bx-section">
      <h2>{u.name} <span class={"tag" + (u.state === "connected" ? " bx-on" : "")}>{codeText("bxUpState_", u.state) || u.state}</span></h2>
      <p>{t("bxUpTo", { homes, to: u.to === "own" ? t("bxUpHere") : u.to })}</p>
      <ul>{u.uses.map((use) => <li key={use}>{codeText("bxUse_", use) || use}</li>)}</ul>
      {u.wrong && <p class="note">{u.wrong}</p>}
      <p class="bx-value">
        {[
          u.since !== null && t("bxUpSince", { time: since(u.since) }), t("bxUpSent", { n: number(u.sent) }), u.waiting > 0 && t("bxUpWaiting", { n: number(u.waiting) }),
          u.dropped > 0 && t("bxUpDropped", { n: number(u.dropped) }), u.missing > 0 && t("bxUpMissing", { n: number(u.missing) }),
        ].filter(Boolean).join(" · ")}
      </p>
      <div class="row">
        <Doing text={<>{t("bxTestYes")}<span class="hidden"> {u.name}</span></>} run={test} />
        {!u.configured && <Doing text={<>{t("removeYes")}<span class="hidden"> {u.name}</span></>} run={remove} />}
      </div>
      {u.configured && <p><small>{t("bxUpFile")}</small></p>}
      {steps.value && <Steps of={steps.value} />}
    </section>
  );
}

/** How a test went, step by step. */
const Steps = ({ of }: { of: Step[] }) => (
  <ul class="bx-checks" role="status">
    {of.map((s) => (
      <li key={s.code} class={s.ok ? "bx-ok" : "bx-bad"}>
        <span aria-hidden="true">{s.ok ? "✓" : "✗"}</span>
        <div><p>{codeText("bxStep_", s.code) || s.code} <span class="hidden">{t(s.ok ? "bxYes" : "bxNo")}</span></p>{s.text && <p><small>{s.text}</small></p>}</div>
      </li>
    ))}
  </ul>
);

/** Makes an uplink. For Home Assistant's broker that are the four fields that it has itself. */
function Make({ networks, open, show, again }: { networks: Named[]; open: boolean; show: (s: Secret) => void; again: () => Promise<void> }) {
  const id = useId();
  const kind = useSignal<string>("broker");
  const steps = useSignal<Step[] | undefined>(undefined);
  const given = (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const network = Number(form.get("network"));
    return {
      name: text("name"), username: text("user"), password: String(form.get("password") ?? ""), networks: network ? [network] : [],
      url: kind.value === "own" ? "own" : kind.value === "broker" ? `${form.has("tls") ? "mqtts" : "mqtt"}://${text("host")}:${text("port")}` : text("url"),
      uses: kind.value === "mqtt" ? form.getAll("use").map(String) : [kind.value === "series" ? "history" : "home_assistant"],
      prefix: text("prefix"), ca: text("ca"),
    };
  };
  const send = async (form: FormData) => {
    const uplink = given(form);
    if (kind.value !== "own") {
      steps.value = (await ask<{ steps: Step[] }>("POST", "uplinks/test", uplink)).steps;
      if (!steps.value.every((s) => s.ok) && !form.has("anyway")) return "";
    }
    await ask("POST", "uplinks", uplink);
    steps.value = undefined;
    if (kind.value === "own") {
      const user = await ask<{ name: string; secret: string; broker: string }>("POST", "mqtt-users", { name: uplink.name, home_assistant: true });
      const at = new URL(user.broker.replace("mqtt", "http"));
      show({ title: uplink.name, values: [[t("bxUpHost"), at.hostname], [t("bxUpPort"), at.port], [t("bxUpUser"), user.name], [t("password"), user.secret]] });
    }
    await again();
    return "";
  };
  const text = (name: string, label: string, more = {}) => (
    <>
      <label for={id + name}>{label}</label>
      <input id={id + name} name={name} autocomplete="off" {...more} />
    </>
  );
  const outside = kind.value !== "own";
  return (
    <New title={t("bxUpNew")} open={open}>
      <Fields main yes={t(outside ? "bxUpTry" : "bxMake")} send={send}>
        <label for={id + "k"}>{t("bxUpKind")}</label>
        <select id={id + "k"} value={kind.value} onChange={(e) => { kind.value = e.currentTarget.value; steps.value = undefined; }}>
          {kinds.map((k) => <option key={k} value={k}>{codeText("bxUpKind_", k)}</option>)}
        </select>
        {text("name", t("suName"), { required: true, maxLength: 32, pattern: "[a-z0-9_\\-]+", defaultValue: "homeassistant" })}
        {kind.value === "broker" && <>{text("host", t("bxUpHost"), { required: true, placeholder: "homeassistant.local" })}{text("port", t("bxUpPort"), { required: true, type: "number", min: 1, max: 65535, defaultValue: "1883" })}</>}
        {(kind.value === "mqtt" || kind.value === "series") && text("url", t("bxUpUrl"), { required: true, placeholder: kind.value === "mqtt" ? "mqtts://…:8883" : "https://…/api/v1/write" })}
        {outside && <>{text("user", t("bxUpUser"))}{text("password", t("password"), { type: "password", autocomplete: "new-password" })}</>}
        <label for={id + "h"}>{t("bxFor")}</label>
        <select id={id + "h"} name="network">
          <option value="">{t("bxAllHomes")}</option>
          {networks.map((n) => <option key={n.id} value={n.id}>{networkName(networks, n.id)}</option>)}
        </select>
        {kind.value === "broker" && <label class="check"><input type="checkbox" name="tls" /> {t("bxUpTls")}</label>}
        {kind.value === "mqtt" && (
          <fieldset class="bx-links">
            <legend>{t("bxUpUses")}</legend>
            {uses.map((use) => <label key={use} class="check"><input type="checkbox" name="use" value={use} /> {codeText("bxUse_", use)}</label>)}
          </fieldset>
        )}
        {kind.value === "mqtt" && text("prefix", t("bxPrefix"), { placeholder: "sensegate" })}
        {outside && (
          <details>
            <summary>{t("bxUpCa")}</summary>
            <label for={id + "ca"}>{t("bxUpCaText")}</label>
            <textarea id={id + "ca"} name="ca" rows={4} />
          </details>
        )}
        {steps.value && <Steps of={steps.value} />}
        {steps.value?.some((s) => !s.ok) && <label class="check"><input type="checkbox" name="anyway" /> {t("bxUpAnyway")}</label>}
      </Fields>
    </New>
  );
}
