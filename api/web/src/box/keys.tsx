import { useId, useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { counted } from "../part/when";
import { t } from "../text";
import { BoxPage } from "./frame";
import { ask, New, number, Once, row, since, when, type Secret } from "./part";

interface Key {
  id: number;
  name: string;
  scopes: string[];
  network_id: number | null;
  created_at: number;
  expires_at: number | null;
  last_used: number | null;
}

interface Keys {
  keys: Key[];
  networks: { id: number; name: string }[];
  core: string;
}

export type Named = { id: number; name: string };

/** What a network is called. */
export const networkName = (networks: Named[], id: number | null) => networks.find((n) => n.id === id)?.name || (id === null ? t("bxAllHomes") : t("bxHomeNumber", { n: id }));

const days = [30, 90, 365];

/** The keys by which programs read the Core interface, and change it. */
export function Keys() {
  const answer = useAnswer<Keys>(row("keys"), 60);
  const [secret, show] = useState<Secret | undefined>();
  const id = useId();
  const k = answer.value;
  const make = async (form: FormData) => {
    const network = Number(form.get("network"));
    const made = await ask<{ name: string; secret: string; core: string }>("POST", "keys", {
      name: String(form.get("name")).trim(), write: form.has("write"), network_id: network || null, all_networks: !network, days: Number(form.get("days")) || null,
    });
    show({ title: made.name, values: [[t("bxKey"), made.secret], [t("bxCore"), made.core]] });
    await answer.again();
    return "";
  };
  const revoke = async (key: Key) => {
    if (!(await sure(t("bxKeySure", { name: key.name }), t("bxKeyWhy"), t("bxRevoke")))) return;
    await ask("DELETE", "keys/" + key.id);
    await answer.again();
  };
  return (
    <BoxPage title="bxKeys" truth={k && (k.keys.length > 0 ? counted("bxKeysTruth", k.keys.length) : t("bxKeysNone"))} answer={answer} under={t("bxKeysText")}>
      {secret && <Once key={secret.values[0][1]} of={secret} done={() => show(undefined)} />}
      {k && (
        <>
          <ul class="list bx-list">
            {k.keys.map((key) => (
              <li key={key.id}>
                <span class="grow">
                  <strong>{key.name}</strong>
                  <br />
                  <small>
                    {[
                      t(key.scopes.some((s) => /write/.test(s)) ? "bxWrites" : "bxReads"), networkName(k.networks, key.network_id),
                      key.last_used === null ? t("bxNeverUsed") : t("bxUsed", { time: since(key.last_used) }), key.expires_at !== null && t("bxUntil", { time: when(key.expires_at) }),
                    ].filter(Boolean).join(" · ")}
                  </small>
                </span>
                <Doing text={<>{t("bxRevoke")}<span class="hidden"> {key.name}</span></>} run={() => revoke(key)} />
              </li>
            ))}
          </ul>
          <New title={t("bxKeyNew")} open={k.keys.length === 0}>
            <Fields main yes={t("bxMake")} send={make}>
              <label for={id + "n"}>{t("suName")}</label>
              <input id={id + "n"} name="name" autocomplete="off" maxLength={64} required />
              <label for={id + "h"}>{t("bxFor")}</label>
              <select id={id + "h"} name="network">
                {k.networks.map((n) => <option key={n.id} value={n.id}>{networkName(k.networks, n.id)}</option>)}
                <option value="">{t("bxAllHomes")}</option>
              </select>
              <label for={id + "d"}>{t("bxEnds")}</label>
              <select id={id + "d"} name="days">
                <option value="">{t("bxNever")}</option>
                {days.map((n) => <option key={n} value={n}>{t("bxDays", { n: number(n) })}</option>)}
              </select>
              <label class="check"><input type="checkbox" name="write" /> {t("bxMayWrite")}</label>
            </Fields>
          </New>
        </>
      )}
    </BoxPage>
  );
}
