import { useAnswer } from "../answer";
import { Doing } from "../part/form";
import { t } from "../text";
import { BoxPage } from "./frame";
import { ask, Bar, bytes, Facts, number, row } from "./part";

interface Stat {
  path: string;
  schema: number;
  size: number;
  page_size: number;
  pages: number;
  free_pages: number;
  buckets: { name: string; keys: number; bytes: number; pages: number }[];
}

/** What the database holds, and whether it is whole. */
export function Database() {
  const answer = useAnswer<Stat>(row("database"), 60);
  const d = answer.value;
  const check = async () => {
    const got = await ask<{ whole: boolean; records: number; samples: number }>("POST", "database/check", {});
    if (!got.whole || got.records + got.samples > 0) return t("bxBroken", { records: number(got.records), samples: number(got.samples) });
    return t("bxWhole");
  };
  const free = d ? d.free_pages / Math.max(1, d.pages) : 0;
  return (
    <BoxPage title="bxDatabase" truth={d && t("bxDatabaseTruth", { size: bytes(d.size) })} answer={answer} under={d && t("bxDatabaseText", { free: bytes(d.free_pages * d.page_size) })}>
      {d && (
        <>
          <Bar parts={[1 - free, free]} />
          <section class="bx-section">
            <h2>{t("bxCheck")}</h2>
            <p>{t("bxCheckText")}</p>
            <Doing text={t("bxCheckYes")} run={check} />
          </section>
          <section class="bx-section">
            <h2>{t("bxBuckets")}</h2>
            <div class="scroll" tabIndex={0} role="group" aria-label={t("bxBuckets")}>
              <table class="figures bx-table">
                <thead><tr><th>{t("suName")}</th><th>{t("bxEntries")}</th><th>{t("bxSize")}</th></tr></thead>
                <tbody>{[...d.buckets].sort((a, b) => b.bytes - a.bytes).map((b) => <tr key={b.name}><th>{b.name}</th><td>{number(b.keys)}</td><td>{bytes(b.bytes)}</td></tr>)}</tbody>
              </table>
            </div>
          </section>
          <Facts of={[[t("bxFile"), <code>{d.path}</code>], [t("bxSchema"), String(d.schema)], [t("bxPages"), `${number(d.pages)} × ${bytes(d.page_size)}`]]} />
        </>
      )}
    </BoxPage>
  );
}
