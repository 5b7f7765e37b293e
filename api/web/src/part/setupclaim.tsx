// The third step: which home it is, what it is called, and in which time zone it stands.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call, clockAhead, Refusal } from "../api";
import type { Claimable } from "../setup";
import { refresh } from "../state";
import { ago, clock, language, list, refusal, t } from "../text";
import { origin } from "./code";
import { Frame } from "./setupframe";
import { counted } from "./when";

const patience = 60_000; // ms without a device, after which the installer is told what to check
const farOff = 120; // s between the clocks of the box and of the phone

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const zones = () => [...new Set([ownZone, ...Intl.supportedValuesOf("timeZone"), "UTC"])].sort();

/** Whether so long has passed without what is awaited. */
export function useTooLong(waiting: boolean): boolean {
  const [over, end] = useState(false);
  useEffect(() => {
    if (!waiting) return end(false);
    const timer = setTimeout(() => end(true), patience);
    return () => clearTimeout(timer);
  }, [waiting]);
  return waiting && over;
}

/** What to check when nothing is heard. address is that of the box: devices often resolve no names. */
export function Checks({ address }: { address: string }) {
  return (
    <div class="note" role="status">
      <p><strong>{t("frNothingHeard")}</strong></p>
      <ul class="fr-checks">
        <li>{t("frCheckPower")}</li>
        <li>{t("frCheckNetwork")}</li>
        <li>{t("frCheckAddress")} <code>{location.protocol === "https:" ? address : origin(address)}/gatekeeper</code></li>
        <li>{t("frCheckClaimed")}</li>
      </ul>
    </div>
  );
}

export function ClaimHome({ found, address, wrong, again }: { found: Claimable[]; address: string; wrong: ComponentChildren; again: () => Promise<void> }) {
  const late = useTooLong(found.length === 0);
  if (found.length === 0)
    return (
      <Frame step="home" title={t("frLooking")}>
        <p>{t("frLookingHelp")}</p>
        <p class="fr-pulse" aria-hidden="true" />
        {late && <Checks address={address} />}
        {wrong}
      </Frame>
    );
  return (
    <Frame step="home" title={found.length === 1 ? t("frFound") : t("frWhich")}>
      {wrong}
      <Claim found={found} again={again} />
    </Frame>
  );
}

/** What the box hears of a home. */
function Heard({ home }: { home: Claimable }) {
  const age = home.heard === null ? undefined : Date.now() / 1000 + clockAhead - home.heard;
  return (
    <span class="grow">
      <strong>{home.names.length > 0 ? list(home.names) : home.name || t("frNoNames")}</strong>
      <br />
      <small>{counted("frOnline", home.nodes).replace("#", String(home.online))}{age !== undefined && age >= 60 ? ` · ${ago(age)}` : ""}</small>
    </span>
  );
}

function Claim({ found, again }: { found: Claimable[]; again: () => Promise<void> }) {
  const chosen = useSignal(found[0].id);
  const zone = useSignal(ownZone);
  const busy = useSignal(false);
  const failed = useSignal("");
  const home = found.find((c) => c.id === chosen.value) ?? found[0];
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    busy.value = true;
    failed.value = "";
    try {
      await call("POST", "/web/v1/setup/claim", { network_id: home.id, name: String(new FormData(e.currentTarget as HTMLFormElement).get("name")).trim(), timezone: zone.value });
      void refresh();
    } catch (e) {
      failed.value = e instanceof Refusal && e.status === 409 ? t("frTaken") : refusal(e);
    }
    await again();
    busy.value = false;
  };
  return (
    <form class="form fr-wide" onSubmit={submit}>
      {found.length === 1 ? (
        <p class="fr-found"><Heard home={home} /></p>
      ) : (
        <fieldset class="fr-choice">
          <legend>{t("frWhichHelp")}</legend>
          {found.map((c) => (
            <label key={c.id}><input type="radio" name="home" checked={c.id === home.id} onChange={() => (chosen.value = c.id)} /> <Heard home={c} /></label>
          ))}
        </fieldset>
      )}
      <label for="name">{t("frHomeName")}</label>
      <input id="name" name="name" key={home.id} autocomplete="off" maxLength={100} required defaultValue={home.name || t("frHomeDefault")} />
      <Zone zone={zone} />
      <p class="wrong" role="alert">{failed}</p>
      <button class="main" disabled={busy}>{t("frClaim")}</button>
    </form>
  );
}

/** The time zone of the home: the phone proposes its own, and its time says whether that is right. */
function Zone({ zone }: { zone: { value: string } }) {
  const [at, tick] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now() / 1000), 5000);
    return () => clearInterval(timer);
  }, []);
  const box = at + clockAhead;
  const day = (seconds: number) => new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short", timeZone: zone.value }).format(seconds * 1000);
  return (
    <>
      <label for="zone">{t("frZone")}</label>
      <select id="zone" aria-describedby="zone-now" value={zone.value} onChange={(e) => (zone.value = e.currentTarget.value)}>
        {zones().map((name) => <option key={name} value={name}>{name.replaceAll("_", " ")}</option>)}
      </select>
      <small id="zone-now">{t(zone.value === ownZone ? "frZoneOwn" : "frZoneOther", { time: clock(box, zone.value) })}</small>
      {Math.abs(clockAhead) > farOff && <p class="note fr-warn" role="alert">{t("frClockOff", { box: day(box), phone: day(at) })}</p>}
    </>
  );
}
