import { useSignal } from "@preact/signals";
import { useAnswer } from "../answer";
import { Link } from "../part/code";
import { Doing } from "../part/form";
import { longDay } from "../part/when";
import { codeText, t } from "../text";
import { BoxPage } from "./frame";
import { ask, row, zone } from "./part";

interface Secure {
  page: string;
  own_authority: boolean;
  ca_sha256: string;
  ca: string;
  ends_at: number | null;
  names: string[];
}

interface Check {
  code: string;
  ok: boolean;
  text: string;
}

const systems = ["windows", "macos", "ios", "android", "linux"] as const;
const titles = { windows: "Windows", macos: "macOS", ios: "iPhone, iPad", android: "Android", linux: "Linux, Firefox" };

/** The system of this browser, as far as it says so. */
function thisSystem(): (typeof systems)[number] {
  const agent = navigator.userAgent;
  if (/iPhone|iPad/.test(agent) || (/Mac/.test(agent) && navigator.maxTouchPoints > 1)) return "ios";
  return /Android/.test(agent) ? "android" : /Mac/.test(agent) ? "macos" : /Windows/.test(agent) ? "windows" : "linux";
}

/** How to reach the box encrypted, and whom to trust for that. */
export function Secure() {
  const answer = useAnswer<Secure>(row("secure"));
  const s = answer.value;
  const here = location.protocol === "https:";
  return (
    <BoxPage title="bxSecure" truth={s && t(s.page === "" ? "bxSecureOff" : here ? "bxSecureHere" : "bxSecureNot")} answer={answer} under={t("bxSecureText")}>
      {s && s.page !== "" && (
        <>
          <section class="bx-section">
            <h2>{t("bxSecureAddress")}</h2>
            <Link link={s.page} label={t("bxSecureAddress")} />
            {s.ends_at !== null && <p><small>{t("bxSecureEnds", { day: longDay(s.ends_at, zone()) })}</small></p>}
            {!here && <p><a class="button" href={s.page}>{t("bxSecureGo")}</a></p>}
          </section>
          {s.own_authority && <Trust of={s} />}
          <Test />
        </>
      )}
      {s?.page === "" && <p class="note">{t("bxSecureOffText")}</p>}
    </BoxPage>
  );
}

/** The box's own authority: what to compare, and what to do on each system. */
function Trust({ of: s }: { of: Secure }) {
  const system = useSignal(thisSystem());
  const groups = s.ca_sha256.replace(/[^0-9a-f]/gi, "").toUpperCase().match(/.{4}/g) ?? [];
  return (
    <>
      <section class="bx-section">
        <h2>{t("bxTrust")}</h2>
        <p>{t("bxTrustText")}</p>
        <p><a class="button" href={s.ca} download="sensegate-ca.pem">{t("bxTrustGet")}</a></p>
        <div class="row" role="group" aria-label={t("bxTrust")}>
          {systems.map((one) => <button key={one} aria-pressed={system.value === one} onClick={() => (system.value = one)}>{titles[one]}</button>)}
        </div>
        <ol class="steps">{codeText("bxTrust_", system.value).split("|").map((step) => <li key={step}>{step}</li>)}</ol>
      </section>
      <section class="bx-section">
        <h2>{t("bxPrint")}</h2>
        <p>{t("bxPrintText")}</p>
        <p class="bx-print">{groups.map((group, i) => <span key={i}>{group} </span>)}</p>
      </section>
    </>
  );
}

/** Lets the box try its own encrypted connection. */
function Test() {
  const checks = useSignal<Check[] | undefined>(undefined);
  const run = async () => {
    checks.value = (await ask<{ checks: Check[] }>("POST", "secure/test", {})).checks;
    return checks.value.every((c) => c.ok) ? t("bxWell") : "";
  };
  return (
    <section class="bx-section">
      <h2>{t("bxTest")}</h2>
      <p>{t("bxTestText")}</p>
      <Doing text={t("bxTestYes")} run={run} />
      {checks.value && (
        <ul class="bx-checks">
          {checks.value.map((c) => (
            <li key={c.code} class={c.ok ? "bx-ok" : "bx-bad"}>
              <span aria-hidden="true">{c.ok ? "✓" : "✗"}</span>
              <div><p>{codeText("bxCheck_", c.code) || c.code} <span class="hidden">{t(c.ok ? "bxYes" : "bxNo")}</span></p>{c.text && <p><small>{c.text}</small></p>}</div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
