// Who looks after the devices of a home without living there, and how the home gets another owner.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useAnswer } from "../answer";
import { call } from "../api";
import type { Overview } from "../state";
import { t } from "../text";
import { useAct } from "./act";
import { sure } from "./dialog";
import { Days, makeCode, stays, type MadeCode } from "./setuphandover";
import { longDay } from "./when";

interface Installers {
  installers: { user: number; name: string; until: number; by: string }[];
}

/** The installers of a home; made is told of a code that its owner has made. */
export function Installers({ o, made, children }: { o: Overview; made: (code: MadeCode, role: "owner" | "installer") => void; children: ComponentChildren }) {
  const owner = o.home.role === "owner";
  const path = `/web/v1/installers?network_id=${o.home.id}`;
  const answer = useAnswer<Installers>(path, 30);
  const days = useSignal(7);
  const stay = useSignal(0);
  const { busy, wrong, act } = useAct(answer.again);
  const end = (user: number, name: string) =>
    act(async () => (await sure(t("frEnd", { name }), t("frEndWhy"), t("frEndYes"))) && call("DELETE", `/web/v1/installers/${user}?network_id=${o.home.id}`));
  const hand = () =>
    act(async () => {
      if (await sure(t("frHandTitle"), t("frHandWhy"), t("frHandYes"))) made(await makeCode(o.home.id, "owner", stay.value), "owner");
    });
  const list = answer.value?.installers ?? [];
  if (!owner && list.length === 0) return null;
  return (
    <section class="fr-installers">
      <h2>{t("frInstallers")}</h2>
      <p>{t("frInstallersWhy")}</p>
      <p class="wrong" role="alert">{wrong}</p>
      {list.length > 0 && (
        <ul class="list">
          {list.map((i) => (
            <li key={i.user}>
              <span class="grow"><strong>{i.name || t("pending")}</strong><br /><small>{t("frUntil", { day: longDay(i.until, o.home.timezone) })}{i.by && i.by !== i.name && ` · ${t("frBy", { name: i.by })}`}</small></span>
              {owner && <button class="bad" disabled={busy.value} onClick={() => void end(i.user, i.name)}>{t("frEndYes")}<span class="hidden"> {i.name}</span></button>}
            </li>
          ))}
        </ul>
      )}
      {owner && (
        <>
          <Days label={t("frInviteDays")} days={days} from={stays.slice(1)} />
          <p><button disabled={busy.value} onClick={() => void act(async () => made(await makeCode(o.home.id, "installer", days.value), "installer"))}>{t("frInvite")}</button></p>
          <details>
            <summary>{t("frHandTitle")}</summary>
            <div class="fr-hand">
              <p>{t("frHandWhy")}</p>
              <Days label={t("frStay")} days={stay} />
              <p><button class="bad" disabled={busy.value} onClick={() => void hand()}>{t("frHandYes")}</button></p>
            </div>
          </details>
          {children}
        </>
      )}
    </section>
  );
}
