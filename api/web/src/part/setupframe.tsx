// What stands around each step of the first run.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { proof } from "../api";
import { go } from "../route";
import type { SetupHome } from "../setup";
import { signOut } from "../state";
import { codeText, t } from "../text";
import { Languages } from "./signform";

/** What each step of a home is given. */
export interface Shown {
  home: SetupHome;
  wrong?: ComponentChildren;
  busy: boolean;
  address: string; // of the box, for devices
  next: () => Promise<void>;
  back?: () => Promise<void>;
}

const steps = ["code", "account", "home", "devices", "rooms", "walk"] as const;
type Named = (typeof steps)[number] | "handover" | "done";

/** A step: which one it is, its one heading, and what it asks for. */
export function Frame({ step, title, home, children }: { step: Named; title: string; home?: SetupHome; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [step]);
  useEffect(() => {
    document.title = `${title} · ${t("name")}`;
  }, [title]);
  const at = steps.indexOf(step as (typeof steps)[number]);
  const passed = (i: number) => at < 0 || i < at;
  return (
    <div class="fr-page">
      <header class="fr-head">
        <img src="icon.svg" alt="" width="28" height="28" />
        <span class="fr-place">{home?.name || t("name")}</span>
        {home && step !== "done" && <button class="quietly" onClick={() => go(home.role === "owner" ? "" : "installs")}>{t("frLater")}</button>}
        {!home && proof() !== "" && <button class="quietly" onClick={() => void signOut()}>{t("signOut")}</button>}
      </header>
      <ol class="fr-steps" aria-label={t("frSteps")}>
        {steps.map((name, i) => (
          <li key={name} class={passed(i) ? "fr-passed" : i === at ? "fr-at" : undefined} aria-current={i === at ? "step" : undefined}>
            <span>{codeText("frStep_", name)}</span>
          </li>
        ))}
      </ol>
      <main class="fr-step">
        {at >= 0 && <p class="fr-of">{t("frOf", { n: at + 1, total: steps.length })} · {codeText("frStep_", step)}</p>}
        <h1 tabIndex={-1} ref={heading}>{title}</h1>
        {children}
        {!home && <p class="fr-language"><Languages /></p>}
      </main>
    </div>
  );
}

/** The way on from a step, and back. */
export function Onward({ shown, yes = t("goOn"), main = true, run = shown.next }: { shown: Shown; yes?: string; main?: boolean; run?: () => Promise<void> }) {
  return (
    <div class="fr-onward">
      {shown.wrong}
      <div class="row">
        {shown.back && <button disabled={shown.busy} onClick={() => void shown.back!()}>{t("frBack")}</button>}
        <button class={main ? "main" : undefined} disabled={shown.busy} onClick={() => void run()}>{yes}</button>
      </div>
    </div>
  );
}
