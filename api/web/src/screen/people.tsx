import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { call, stepUp } from "../api";
import { useAct } from "../part/act";
import { Link, origin, QR } from "../part/code";
import { sure } from "../part/dialog";
import { Installers } from "../part/installers";
import { Page, Waiting } from "../part/page";
import { codeLink } from "../part/setuphandover";
import { now, refresh, type Overview } from "../state";
import { clock, t } from "../text";

interface User {
  id: number;
  first_name: string;
  last_name: string;
  email: string;
}

interface Membership {
  id: number;
  role: "owner" | "member";
  user: number | User;
  is_present: boolean;
}

interface Invitation {
  id: number;
  email: string;
  expires_at: string;
}

interface Mail {
  id: number;
  kind: string;
  address: string;
  user_id: number | null;
  link: string | null;
  state: "kept" | "queued" | "sent" | "failed";
  created_at: string;
}

type Shown = { title: string; text: string; link?: string; code?: string; role?: "owner" | "installer" };

/** Who belongs to the home, and who may come. */
export function Screen({ o }: { o: Overview }) {
  const owner = o.home.role === "owner";
  const home = `network_id=${o.home.id}`;
  const members = useAnswer<{ data: Membership[] }>(`/api/v1/network_memberships?expand=user&${home}`, 30);
  const invitations = useAnswer<{ data: Invitation[] }>(`/api/v1/invitations?${home}`, 30);
  const { busy, wrong, act } = useAct(() => Promise.all([members.again(), invitations.again(), refresh()]));
  const [shown, show] = useState<Shown | undefined>();

  const person = (m: Membership) => (typeof m.user === "number" ? undefined : m.user);
  const name = (m: Membership) => [person(m)?.first_name, person(m)?.last_name].filter(Boolean).join(" ") || person(m)?.email || t("pending");

  /** The newest mail of a kind that fits, once it is stored; its link needs a recent log-in. */
  const mailOf = async (kind: string, fits: (m: Mail) => boolean) => {
    const find = async () => (await call<{ data: Mail[] }>("GET", `/api/v1/outbox?${home}`)).data.find((m) => m.kind === kind && fits(m));
    for (let tries = 0; tries < 5; tries++) {
      const mail = await find();
      if (mail && mail.link === null && mail.state === "kept" && (await stepUp())) return find();
      if (mail) return mail;
      await new Promise((done) => setTimeout(done, 400));
    }
    return undefined;
  };
  const newPassword = (m: Membership) =>
    act(async () => {
      const u = person(m);
      if (!u || !(await sure(t("resetOf", { name: name(m) }), t("resetOfWhy"), t("goOn")))) return;
      await call("POST", "/api/v1/password_resets", { email: u.email });
      const mail = await mailOf("reset", (one) => one.user_id === u.id);
      const link = mail?.link && ownLink(mail.link);
      show({
        title: t("resetOf", { name: name(m) }),
        text: link ? t("resetShow") : mail && mail.state !== "kept" ? t("mailGoes", { address: u.email }) : t("resetElsewhere", { address: u.email }),
        link: link || undefined,
      });
    });
  const invite = (address: string) =>
    act(async () => {
      const answer = await call<{ failed_emails: string[] }>("POST", "/api/v1/member_invites", { network_id: o.home.id, emails: [address] });
      if (answer.failed_emails.length > 0) throw new Error(t("inviteFailed", { address }));
      const mail = await mailOf("invite", (one) => one.address.toLowerCase() === address.toLowerCase());
      const link = mail?.link && ownLink(mail.link);
      show({ title: t("inviteOf", { address }), text: link ? t("inviteShow") : t("mailGoes", { address }), link: link || undefined });
    });
  const newCode = () =>
    act(async () => {
      const made = await call<{ code: string; address: string; ends_at: number }>("POST", `/web/v1/join-codes?${home}`);
      show({
        title: t("codeTitle"),
        text: t("codeText", { time: clock(made.ends_at, o.home.timezone) }),
        link: `${origin(made.address)}/#join=${made.code}`,
        code: made.code,
      });
    });
  const endCodes = () =>
    act(async () => {
      await call("DELETE", `/web/v1/join-codes?${home}`);
      show(undefined);
    });

  const rows = members.value?.data ?? [];
  return (
    <Page title={t("peopleTitle")} kind="household">
      <p class="wrong" role="alert">{wrong}</p>
      <section>
        <h2 class="hidden">{t("peopleWho")}</h2>
        <Waiting answer={members} />
        <ul class="list">
          {rows.map((m) => {
            const told = o.people.find((p) => p.id === m.id);
            const self = person(m)?.id === o.user.id;
            return (
              <li key={m.id}>
                <span class={m.is_present ? "dot on" : "dot"} aria-hidden="true" />
                <span class="grow">
                  <strong>{name(m)}</strong> {self && <small>{t("thatIsYou")}</small>}
                  <br />
                  <small>{t(m.role === "owner" ? "roleOwner" : "roleMember")} · {t(m.is_present ? "present" : told === undefined || told.at === 0 ? "unsaid" : "absent")}</small>
                </span>
                {owner && !self && (
                  <details class="menu">
                    <summary aria-label={t("moreOf", { name: name(m) })}>⋯</summary>
                    <div class="row">
                      {person(m) && <button disabled={busy} onClick={() => newPassword(m)}>{t("newPasswordOf")}</button>}
                      {person(m) && (
                        <button disabled={busy} onClick={() => act(async () => (await sure(t("handOver", { name: name(m) }), t("handOverWhy"), t("handOverYes"))) && call("PATCH", `/api/v1/network_memberships/${m.id}`, { role: "owner" }))}>
                          {t("handOverYes")}
                        </button>
                      )}
                      <button class="bad" disabled={busy} onClick={() => act(async () => (await sure(t("remove", { name: name(m) }), t("removeWhy"), t("removeYes"))) && call("DELETE", `/api/v1/network_memberships/${m.id}`))}>
                        {t("removeYes")}
                      </button>
                    </div>
                  </details>
                )}
                {!owner && self && (
                  <button disabled={busy} onClick={() => act(async () => (await sure(t("leaveHome", { home: o.home.name || t("home") }), t("leaveHomeWhy"), t("leaveHomeYes"))) && call("DELETE", `/api/v1/network_memberships/${m.id}`))}>
                    {t("leaveHomeYes")}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
        {owner && rows.length === 1 && <p class="note">{t("onlyYou")}</p>}
        {!owner && <p class="note">{t("ownerInvites")}</p>}
      </section>
      {owner && (
        <section class="invite">
          <h2>{t("inviteTitle")}</h2>
          <div class="row">
            <button class="main" disabled={busy} onClick={newCode}>{t("inviteCode")}</button>
            <button disabled={busy} onClick={endCodes}>{t("inviteEnd")}</button>
          </div>
          {shown && !shown.role && <Card shown={shown} />}
          <InviteByMail busy={busy.value} invite={invite} />
        </section>
      )}
      <Installers
        o={o}
        made={(made, role) =>
          show({
            title: t(role === "owner" ? "frCodeOwner" : "frCodeInstaller"),
            text: t(role === "owner" ? "frCodeOwnerText" : "frCodeInstallerText", { time: clock(made.ends_at, o.home.timezone) }),
            link: codeLink(made, role),
            code: made.code,
            role,
          })
        }
      >
        {shown?.role && <Card shown={shown} />}
      </Installers>
      {(invitations.value?.data.length ?? 0) > 0 && (
        <section>
          <h2>{t("inviteOpen")}</h2>
          <ul class="list">
            {invitations.value!.data.map((i) => (
              <li key={i.id}>
                <span class="grow">{i.email}<br /><small>{t("inviteUntil", { days: Math.max(1, Math.ceil((Date.parse(i.expires_at) / 1000 - now.value) / 86400)) })}</small></span>
                {owner && <button disabled={busy} onClick={() => act(() => call("DELETE", `/api/v1/invitations/${i.id}`))}>{t("withdraw")}</button>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </Page>
  );
}

/** The link of a mail, at the address that other devices of the house know this page by. */
function ownLink(link: string): string {
  const l = new URL(link);
  return origin(l.origin) + l.pathname + l.search + l.hash;
}

/** What is to be handed to somebody. */
function Card({ shown }: { shown: Shown }) {
  return (
    <div class="card handed">
      {shown.link && <QR text={shown.link} label={t("qrLabel")} />}
      <div>
        <h3>{shown.title}</h3>
        {shown.code && <p class="code">{shown.code}</p>}
        <p>{shown.text}</p>
        {shown.link && <Link link={shown.link} />}
      </div>
    </div>
  );
}

function InviteByMail({ busy, invite }: { busy: boolean; invite: (address: string) => Promise<void> }) {
  const address = useSignal("");
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    await invite(address.value.trim());
    address.value = "";
  };
  return (
    <details>
      <summary>{t("inviteMail")}</summary>
      <form class="form" onSubmit={submit}>
        <label for="invited">{t("email")}</label>
        <input id="invited" type="email" required maxLength={254} value={address.value} onInput={(e) => (address.value = e.currentTarget.value)} />
        <button disabled={busy}>{t("inviteYes")}</button>
      </form>
    </details>
  );
}
