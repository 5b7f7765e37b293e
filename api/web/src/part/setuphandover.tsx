// The last steps of the first run: whose home it is, and the home that is alive.

import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { call } from "../api";
import { go, to } from "../route";
import { sentence } from "../screen/home";
import { installing, type SetupHome } from "../setup";
import { choose, moving, now, overview } from "../state";
import { clock, refusal, t } from "../text";
import { Link, origin, QR } from "./code";
import { Frame, Onward, type Shown } from "./setupframe";
import { counted, longDay } from "./when";

/** Days that an installer may stay; 0: they leave at once. */
export const stays = [0, 3, 7, 14, 30];

/** How long somebody stays, to be chosen. */
export function Days({ label, days, from = stays }: { label: string; days: { value: number }; from?: number[] }) {
  return (
    <fieldset class="choice fr-days">
      <legend>{label}</legend>
      {from.map((n) => <button key={n} type="button" aria-pressed={days.value === n} onClick={() => (days.value = n)}>{n === 0 ? t("frDaysNone") : counted("frDays", n)}</button>)}
    </fieldset>
  );
}

/** A code that was made, and until when it works. */
export interface MadeCode {
  code: string;
  address: string;
  ends_at: number;
}

export const makeCode = (home: number, role: "owner" | "installer", days: number) =>
  call<MadeCode>("POST", `/web/v1/join-codes?network_id=${home}`, { role, days });

/** The link of a code; it says for whom it is, before the box does. */
export const codeLink = (made: MadeCode, role: string) => `${origin(made.address)}/#join=${made.code}&as=${role}`;

/** The seventh step: who lives here. handed is told that there is a code for the next owner. */
export function HandOver({ handed, ...shown }: Shown & { handed: () => void }) {
  const days = useSignal(7);
  const busy = useSignal(false);
  const failed = useSignal("");
  const [made, make] = useState<MadeCode | undefined>(undefined);
  const hand = async () => {
    busy.value = true;
    failed.value = "";
    try {
      make(await makeCode(shown.home.id, "owner", days.value));
      handed();
    } catch (e) {
      failed.value = refusal(e);
    }
    busy.value = false;
  };
  if (shown.home.role !== "owner")
    return <Frame step="handover" title={t("frInstalled")} home={shown.home}><p>{t("frInstalledHelp")}</p><Onward shown={{ ...shown, back: shown.back }} yes={t("frToDevices")} run={async () => go("devices")} /></Frame>;
  return (
    <Frame step="handover" title={t("frWhose")} home={shown.home}>
      <section class="card fr-card">
        <h2>{t("frMine")}</h2>
        <p>{t("frMineHelp")}</p>
        <Onward shown={{ ...shown, back: undefined }} yes={t("frMineYes")} />
      </section>
      <section class="card fr-card">
        <h2>{t("frTheirs")}</h2>
        <p>{t("frTheirsHelp")}</p>
        {made ? <Code made={made} zone={shown.home.timezone} /> : <Days label={t("frStay")} days={days} />}
        <p class="wrong" role="alert">{failed}</p>
        <button disabled={busy.value} onClick={() => void hand()}>{t(made ? "frNewCode" : "frTheirsYes")}</button>
      </section>
      {shown.back && <p><button disabled={shown.busy} onClick={() => void shown.back!()}>{t("frBack")}</button></p>}
    </Frame>
  );
}

/** The code for the next owner. */
function Code({ made, zone }: { made: MadeCode; zone: string }) {
  const link = codeLink(made, "owner");
  return (
    <div class="handed">
      <QR text={link} label={t("qrLabel")} />
      <div>
        <p class="code">{made.code}</p>
        <p>{t("frTheirsCode", { time: clock(made.ends_at, zone) })}</p>
        <Link link={link} />
      </div>
    </div>
  );
}

/** What the installer sees once the household has taken the home over. given: they stay. */
export function HandedOver({ home: given }: { home: SetupHome | undefined }) {
  useEffect(() => {
    if (given) installing.value = given.id;
  }, [given?.id]);
  return (
    <Frame step="done" title={t("frHanded")}>
      <p>{given?.until ? t("frHandedUntil", { day: longDay(given.until, given.timezone) }) : t("frHandedOut")}</p>
      <p>{t("frHandedHelp")}</p>
      <p><button class="main" onClick={() => go(given ? "devices" : "")}>{t(given ? "frToDevices" : "goOn")}</button></p>
    </Frame>
  );
}

/** The home of the first run, alive. */
export function Alive({ home }: { home: SetupHome }) {
  const o = overview.value;
  useEffect(() => {
    if (o && o.home.id !== home.id) choose(home.id);
  }, [home.id, o?.home.id]);
  const alive = o && o.home.id === home.id;
  const title = alive ? sentence(o, moving.value, now.value) : t("loading");
  return (
    <Frame step="done" title={title} home={home}>
      <p class="hidden" role="status">{alive && o.state === "motion" ? title : ""}</p>
      <p class={alive && o.state === "motion" ? "fr-alive fr-moves" : "fr-alive"} aria-hidden="true" />
      <p>{t(alive && o.state === "motion" ? "frAliveMotion" : "frAliveWalk")}</p>
      {alive && o.home.timezone !== ownZone && <p class="note">{t("frZoneNamed", { zone: o.home.timezone.replaceAll("_", " ") })}</p>}
      <p class="row">
        <button class="main" onClick={() => go("")}>{t("frOpenHome")}</button>
        <a class="fr-go" href={to("people")}>{t("frInviteOthers")}</a>
      </p>
    </Frame>
  );
}

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
