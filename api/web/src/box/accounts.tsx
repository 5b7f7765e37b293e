import { useSignal } from "@preact/signals";
import { useId, useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { useAct } from "../part/act";
import { sure } from "../part/dialog";
import { Fields } from "../part/form";
import { counted } from "../part/when";
import { askRole } from "../state";
import { t } from "../text";
import { BoxPage } from "./frame";
import { ask, New, Once, row, when, type Secret } from "./part";

interface Account {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  confirmed: boolean;
  created_at: number;
  administrator: boolean;
  you: boolean;
  homes: number;
  owns: number;
  sessions: number;
}

const nameOf = (a: Account) => [a.first_name, a.last_name].filter(Boolean).join(" ") || a.email;

/** Who has an account on the box, and who looks after it. */
export function Accounts() {
  const answer = useAnswer<{ accounts: Account[] }>(row("accounts"), 60);
  const [secret, show] = useState<Secret | undefined>();
  const { busy, wrong, act } = useAct(answer.again);
  const id = useId();
  const all = answer.value?.accounts ?? [];
  const administrators = all.filter((a) => a.administrator).length;
  const made = (email: string, password: string) => show({ title: t("bxPasswordOf", { who: email }), values: [[t("email"), email], [t("password"), password]] });
  const add = async (form: FormData) => {
    const got = await ask<{ email: string; password: string }>("POST", "accounts", { email: String(form.get("email")).trim() });
    made(got.email, got.password);
    await answer.again();
    return "";
  };
  const newPassword = (a: Account) =>
    act(async () => {
      if (!(await sure(t("bxNewPasswordSure", { who: nameOf(a) }), t("bxNewPasswordWhy"), t("newPasswordOf")))) return;
      made(a.email, (await ask<{ password: string }>("POST", `accounts/${a.id}/password`, {})).password);
    });
  const turn = (a: Account) =>
    act(async () => {
      const is = !a.administrator;
      const why = is ? t("bxAdminWhy") : t(a.you ? "bxAdminEndYou" : "bxAdminEndWhy");
      if (!(await sure(t(is ? "bxAdminSure" : "bxAdminEndSure", { who: nameOf(a) }), why, t(is ? "bxAdmin" : "bxAdminEnd")))) return;
      await ask("PUT", `accounts/${a.id}/administrator`, { administrator: is });
      if (a.you) await askRole();
    });
  const remove = (a: Account, networks: boolean) =>
    act(async () => {
      const why = [t("bxDeleteWhy"), a.owns > 0 && t(networks ? "bxDeleteHomes" : "bxDeleteKeeps")].filter(Boolean).join(" ");
      if (!(await sure(t("bxDelete", { who: nameOf(a) }), why, t("deleteYes"), a.email))) return;
      await ask("DELETE", `accounts/${a.id}?networks=${networks}`);
    });
  return (
    <BoxPage title="bxAccounts" truth={answer.value && counted("bxAccountsTruth", all.length)} answer={answer} under={answer.value && counted("bxAdmins", administrators)}>
      <p class="wrong" role="alert">{wrong}</p>
      {secret && <Once key={secret.values[1][1]} of={secret} done={() => show(undefined)} />}
      <ul class="list bx-list">
        {all.map((a) => <Row key={a.id} of={a} busy={busy.value} newPassword={newPassword} turn={turn} remove={remove} />)}
      </ul>
      <New title={t("bxAddAccount")} open={false}>
        <p>{t("bxAddAccountText")}</p>
        <Fields main yes={t("bxMake")} send={add}>
          <label for={id}>{t("email")}</label>
          <input id={id} name="email" type="email" autocomplete="off" maxLength={254} required />
        </Fields>
      </New>
    </BoxPage>
  );
}

function Row({ of: a, busy, newPassword, turn, remove }: { of: Account; busy: boolean; newPassword: (a: Account) => void; turn: (a: Account) => void; remove: (a: Account, networks: boolean) => void }) {
  const homes = useSignal(false);
  const name = nameOf(a);
  return (
    <li>
      <span class="grow">
        <strong>{name}</strong> {a.you && <small>{t("thatIsYou")}</small>} {a.administrator && <span class="tag bx-on">{t("bxAdministrator")}</span>} {!a.confirmed && <span class="tag">{t("bxUnconfirmed")}</span>}
        <br />
        <small>{[name !== a.email && a.email, counted("bxHomes", a.homes), a.sessions > 0 && counted("bxSessions", a.sessions), t("phoneSince", { time: when(a.created_at) })].filter(Boolean).join(" · ")}</small>
      </span>
      <details class="menu">
        <summary aria-label={t("moreOf", { name })}>⋯</summary>
        <div class="row">
          <button disabled={busy} onClick={() => newPassword(a)}>{t("newPasswordOf")}</button>
          <button disabled={busy} onClick={() => turn(a)}>{t(a.administrator ? "bxAdminEnd" : "bxAdmin")}</button>
          <button class="bad" disabled={busy} onClick={() => remove(a, homes.value)}>{t("deleteYes")}</button>
          {a.owns > 0 && <label class="check"><input type="checkbox" checked={homes.value} onChange={() => (homes.value = !homes.value)} /> {t("bxDeleteAlso")}</label>}
        </div>
      </details>
    </li>
  );
}
