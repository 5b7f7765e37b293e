import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { counted } from "../part/when";
import { codeText, t } from "../text";
import { BoxPage } from "./frame";
import { networkName, type Named } from "./keys";
import { ask, New, number, Once, row, when, type Secret } from "./part";

interface Uplink {
  name: string;
  url: string;
  to: string; // host and port; "own" is the box's own broker
  uses: string[];
  networks: number[]; // none: all
  username: string;
  has_password: boolean;
  prefix: string;
  ca: string;
  configured: boolean; // in the file of the configuration
  state: string;
  since: number | null;
  wrong: string; // in English; empty: nothing
  why: string; // its code
  waiting: number;
  sent: number;
  dropped: number;
  missing: number;
}

interface Step {
  code: string;
  ok: boolean;
  why: string; // code of what went wrong
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
      {list && (
        <New key={list.length} title={t("bxUpNew")} open={list.length === 0}>
          <Form networks={answer.value!.networks} show={(s) => (secret.value = s)} done={answer.again} />
        </New>
      )}
    </BoxPage>
  );
}

/** Whom it is about. */
const homesOf = (u: Uplink, networks: Named[]) => (u.networks.length === 0 ? t("bxAllHomes") : u.networks.map((n) => networkName(networks, n)).join(", "));

/** What went wrong: in words of the page where it has some for the code. */
const saidWhy = (code: string, text: string) => codeText("bxUpNo_", code) || text;

/** An uplink: what it sends to whom, and how that goes. */
function One({ of: u, networks, again }: { of: Uplink; networks: Named[]; again: () => Promise<void> }) {
  const steps = useSignal<Step[] | undefined>(undefined);
  const editing = useSignal(false);
  const edit = useRef<HTMLButtonElement>(null);
  const test = async () => {
    steps.value = (await ask<{ steps: Step[] }>("POST", `uplinks/${u.name}/test`)).steps;
  };
  const remove = async () => {
    if (!(await sure(t("remove", { name: u.name }), t("bxUpWhy"), t("removeYes")))) return;
    await ask("DELETE", "uplinks/" + u.name);
    await again();
  };
  const changed = async () => {
    await again();
    steps.value = undefined;
    editing.value = false;
    edit.current?.focus();
  };
  return (
    <section class="card bx-section">
      <h2>{u.name} <span class={"tag" + (u.state === "connected" ? " bx-on" : "")}>{codeText("bxUpState_", u.state) || u.state}</span></h2>
      <p>{t("bxUpTo", { homes: homesOf(u, networks), to: u.to === "own" ? t("bxUpHere") : u.to })}</p>
      <ul class="bx-uses">{u.uses.map((use) => <li key={use}>{codeText("bxUse_", use) || use}</li>)}</ul>
      {u.wrong && <p class="note">{saidWhy(u.why, u.wrong)}</p>}
      <p class="bx-value">
        {[
          u.since !== null && t("bxUpSince", { time: when(u.since) }), t("bxUpSent", { n: number(u.sent) }), u.waiting > 0 && t("bxUpWaiting", { n: number(u.waiting) }),
          u.dropped > 0 && t("bxUpDropped", { n: number(u.dropped) }), u.missing > 0 && t("bxUpMissing", { n: number(u.missing) }),
        ].filter(Boolean).join(" · ")}
      </p>
      <div class="row">
        <Doing text={<>{t("bxTestYes")}<span class="hidden"> {u.name}</span></>} run={test} />
        {!u.configured && <button ref={edit} aria-expanded={editing.value} onClick={() => (editing.value = !editing.value)}>{t("alEdit")}<span class="hidden"> {u.name}</span></button>}
        {!u.configured && <Doing text={<>{t("removeYes")}<span class="hidden"> {u.name}</span></>} run={remove} />}
      </div>
      {u.configured && <p><small>{t("bxUpFile")}</small></p>}
      {steps.value && <Steps of={steps.value} />}
      {editing.value && <Form of={u} networks={networks} done={changed} />}
    </section>
  );
}

/** How a test went, step by step. */
const Steps = ({ of }: { of: Step[] }) => (
  <div role="status">
    <ul class="bx-checks">
      {of.map((s) => (
        <li key={s.code} class={s.ok ? "bx-ok" : "bx-bad"}>
          <span aria-hidden="true">{s.ok ? "✓" : "✗"}</span>
          <div><p>{codeText("bxStep_", s.code) || s.code} <span class="hidden">{t(s.ok ? "bxYes" : "bxNo")}</span></p>{!s.ok && s.text && <p><small>{saidWhy(s.why, s.text)}</small></p>}</div>
        </li>
      ))}
    </ul>
  </div>
);

/** Makes an uplink, or changes one. For Home Assistant's broker that are the four fields that it has itself. */
function Form({ of, networks, show, done }: { of?: Uplink; networks: Named[]; show?: (s: Secret) => void; done: () => Promise<void> }) {
  const id = useId();
  const at = /^(mqtts?):\/\/([^/]+?)(?::(\d+))?\/?$/.exec(of?.url ?? "");
  const kind = useSignal<string>(!of || at ? "broker" : of.url === "own" ? "own" : of.url.startsWith("http") ? "series" : "mqtt");
  const steps = useSignal<Step[] | undefined>(undefined);
  const outside = kind.value !== "own";
  const chooses = kind.value === "mqtt" || (kind.value === "broker" && !!of); // what it gets
  const given = (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    return {
      name: of?.name ?? text("name"), username: text("user"), password: String(form.get("password") ?? ""), networks: text("network").split(" ").filter(Boolean).map(Number),
      url: !outside ? "own" : kind.value === "broker" ? `${form.has("tls") ? "mqtts" : "mqtt"}://${text("host")}:${text("port")}` : text("url"),
      uses: chooses ? form.getAll("use").map(String) : [kind.value === "series" ? "history" : "home_assistant"],
      prefix: text("prefix"), ca: text("ca"),
    };
  };
  const send = async (form: FormData) => {
    const uplink = given(form);
    if (outside) {
      steps.value = (await ask<{ steps: Step[] }>("POST", "uplinks/test", uplink)).steps;
      if (!steps.value.every((s) => s.ok) && !form.has("anyway")) return "";
    }
    await (of ? ask("PUT", "uplinks/" + of.name, uplink) : ask("POST", "uplinks", uplink));
    steps.value = undefined;
    if (!outside && !of) {
      const user = await ask<{ name: string; secret: string; broker: string }>("POST", "mqtt-users", { name: uplink.name, home_assistant: true });
      const at = new URL(user.broker.replace("mqtt", "http"));
      show!({ title: uplink.name, values: [[t("bxUpHost"), at.hostname], [t("bxUpPort"), at.port], [t("bxUpUser"), user.name], [t("password"), user.secret]] });
    }
    await done();
    return "";
  };
  const text = (name: string, label: string, more = {}) => (
    <>
      <label for={id + name}>{label}</label>
      <input id={id + name} name={name} autocomplete="off" {...more} />
    </>
  );
  const several = of && of.networks.length > 1;
  return (
    <Fields main yes={t(outside ? "bxUpTry" : of ? "save" : "bxMake")} send={send}>
      {!of && (
        <>
          <label for={id + "k"}>{t("bxUpKind")}</label>
          <select id={id + "k"} value={kind.value} onChange={(e) => { kind.value = e.currentTarget.value; steps.value = undefined; }}>
            {kinds.map((k) => <option key={k} value={k}>{codeText("bxUpKind_", k)}</option>)}
          </select>
          {text("name", t("suName"), { required: true, maxLength: 32, pattern: "[a-z0-9_\\-]+", defaultValue: "homeassistant" })}
        </>
      )}
      {kind.value === "broker" && (
        <>
          {text("host", t("bxUpHost"), { required: true, placeholder: "homeassistant.local", defaultValue: at?.[2] })}
          {text("port", t("bxUpPort"), { required: true, type: "number", min: 1, max: 65535, defaultValue: at?.[3] ?? (at?.[1] === "mqtts" ? "8883" : "1883") })}
        </>
      )}
      {(kind.value === "mqtt" || kind.value === "series") && text("url", t("bxUpUrl"), { required: true, placeholder: kind.value === "mqtt" ? "mqtts://…:8883" : "https://…/api/v1/write", defaultValue: of?.url })}
      {outside && (
        <>
          {text("user", t("bxUpUser"), { defaultValue: of?.username })}
          {text("password", t("password"), { type: "password", autocomplete: "new-password", "aria-describedby": of?.has_password ? id + "keep" : undefined })}
          {of?.has_password && <small id={id + "keep"}>{t("bxUpKeep")}</small>}
        </>
      )}
      <label for={id + "h"}>{t("bxFor")}</label>
      <select id={id + "h"} name="network">
        {several && <option value={of.networks.join(" ")} selected>{homesOf(of, networks)}</option>}
        <option value="">{t("bxAllHomes")}</option>
        {networks.map((n) => <option key={n.id} value={n.id} selected={!several && of?.networks[0] === n.id}>{networkName(networks, n.id)}</option>)}
      </select>
      {kind.value === "broker" && <label class="check"><input type="checkbox" name="tls" defaultChecked={at?.[1] === "mqtts"} /> {t("bxUpTls")}</label>}
      {chooses && (
        <>
          <fieldset class="bx-links">
            <legend>{t("bxUpUses")}</legend>
            {uses.map((use) => <label key={use} class="check"><input type="checkbox" name="use" value={use} defaultChecked={of?.uses.includes(use)} /> {codeText("bxUse_", use)}</label>)}
          </fieldset>
          {text("prefix", t("bxPrefix"), { placeholder: "sensegate", defaultValue: of?.prefix })}
        </>
      )}
      {outside && (
        <details>
          <summary>{t("bxUpCa")}</summary>
          <label for={id + "ca"}>{t("bxUpCaText")}</label>
          <textarea id={id + "ca"} name="ca" rows={4} defaultValue={of?.ca} />
        </details>
      )}
      {steps.value && <Steps of={steps.value} />}
      {steps.value?.some((s) => !s.ok) && <label class="check"><input type="checkbox" name="anyway" /> {t("bxUpAnyway")}</label>}
    </Fields>
  );
}
