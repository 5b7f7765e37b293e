import { useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { Link, origin, QR } from "../part/code";
import { Doing } from "../part/form";
import { counted } from "../part/when";
import { codeText, t } from "../text";
import { BoxPage } from "./frame";
import { ask, row, since, when } from "./part";

interface Mail {
  id: number;
  kind: string;
  to: string;
  state: string;
  created_at: number;
  attempts: number;
  last_error: string;
}

interface Opened {
  id: number;
  to: string;
  subject: string;
  text: string;
  link: string;
}

interface Outbox {
  mails: Mail[];
  pushes_given_up: { id: number; name: string; failed_at: number; last_error: string }[];
}

/** The mails that the box has, sent or to be handed over, and phones that it reaches no more. */
export function Mails() {
  const answer = useAnswer<Outbox>(row("mails"), 30);
  const [opened, open] = useState<Opened | undefined>();
  const mails = answer.value?.mails;
  const lost = answer.value?.pushes_given_up ?? [];
  return (
    <BoxPage title="bxMails" truth={mails && (mails.length > 0 ? counted("bxMailsTruth", mails.length) : t("bxMailsNone"))} answer={answer} under={t("bxMailsText")}>
      <ul class="list bx-list">
        {mails?.map((m) => (
          <li key={m.id}>
            <span class="grow">
              <strong>{codeText("bxMail_", m.kind) || m.kind}</strong> <span class={m.state === "failed" ? "tag bad" : "tag"}>{codeText("bxState_", m.state) || m.state}</span>
              <br />
              <small>{[m.to, since(m.created_at), m.attempts > 1 && t("bxAttempts", { n: m.attempts }), m.last_error].filter(Boolean).join(" · ")}</small>
            </span>
            {opened?.id === m.id ? (
              <button aria-expanded="true" onClick={() => open(undefined)}>{t("bxClose")}<span class="hidden"> {m.to}</span></button>
            ) : (
              <Doing text={<>{t("bxOpen")}<span class="hidden"> {m.to}</span></>} run={async () => open(await ask<Opened>("GET", "mails/" + m.id))} />
            )}
            {opened?.id === m.id && <Letter of={opened} />}
          </li>
        ))}
      </ul>
      {lost.length > 0 && (
        <section class="bx-section">
          <h2>{t("bxPushes")}</h2>
          <p>{t("bxPushesText")}</p>
          <ul class="list bx-list">{lost.map((p) => <li key={p.id}><span class="grow"><strong>{p.name}</strong><br /><small>{[when(p.failed_at), p.last_error].filter(Boolean).join(" · ")}</small></span></li>)}</ul>
        </section>
      )}
    </BoxPage>
  );
}

/** A mail as it was written, with its link for another device. */
function Letter({ of }: { of: Opened }) {
  const url = of.link === "" ? undefined : new URL(of.link);
  const link = url && origin(url.origin) + url.pathname + url.search + url.hash;
  return (
    <div class="handed bx-letter">
      {link && <QR text={link} label={t("qrLabel")} />}
      <div>
        <h2>{of.subject}</h2>
        {link ? <><p>{t("bxMailLink")}</p><Link link={link} /></> : <p>{t("bxMailNoLink")}</p>}
        <p class="bx-text">{of.text}</p>
      </div>
    </div>
  );
}
