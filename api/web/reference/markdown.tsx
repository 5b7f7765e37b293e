// The part of Markdown (CommonMark 0.31, and tables as GitHub writes them) that the documents use:
// paragraphs, lists, tables, blocks of code; in them code, bold, emphasis and links. All else is
// shown as it is written: no text becomes markup.

import type { ComponentChildren } from "preact";

const inlinePart = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|\*([^\s*](?:[^*]*[^\s*])?)\*|\[([^\]]+)\]\(([^\s)]+)\)/s;

/** Returns a line of text with its code, bold, emphasis and links. */
export function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  for (let m = inlinePart.exec(text); m; m = inlinePart.exec(text)) {
    const [whole, ticks, code, bold, emphasis, label, target] = m;
    parts.push(text.slice(0, m.index));
    if (ticks) parts.push(<code>{code.replace(/^ (.+) $/s, "$1")}</code>);
    else if (bold) parts.push(<strong>{inline(bold)}</strong>);
    else if (emphasis) parts.push(<em>{inline(emphasis)}</em>);
    else parts.push(/^(https?:\/\/|[/#?])/.test(target) ? <a href={target}>{inline(label)}</a> : whole);
    text = text.slice(m.index + whole.length);
  }
  return [...parts, text];
}

const listItem = /^\s*(?:[-*+]|(\d+)[.)])\s+/;
const tableRule = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const block = /^(```|\s*(?:[-*+]|\d+[.)])\s|\s*\|)/;

export function Markdown({ text }: { text?: string }) {
  const lines = (text ?? "").split("\n");
  const blocks: ComponentChildren[] = [];
  /** Takes lines from the first one on while they go on. */
  const take = (goesOn: (line: string) => boolean) => {
    const taken = [];
    while (lines.length && goesOn(lines[0])) taken.push(lines.shift()!);
    return taken;
  };
  while (lines.length) {
    if (!lines[0].trim()) lines.shift();
    else if (lines[0].startsWith("```")) {
      lines.shift();
      blocks.push(<pre>{take((l) => !l.startsWith("```")).join("\n")}</pre>);
      lines.shift();
    } else if (listItem.test(lines[0])) blocks.push(list(take((l) => listItem.test(l) || /^\s+\S/.test(l))));
    else if (lines[0].includes("|") && tableRule.test(lines[1] ?? "")) blocks.push(table(take((l) => l.includes("|"))));
    else {
      const first = lines.shift()!;
      blocks.push(<p>{inline([first, ...take((l) => l.trim() !== "" && !block.test(l))].join("\n"))}</p>);
    }
  }
  return <>{blocks}</>;
}

function list(lines: string[]) {
  const items: string[] = [];
  for (const line of lines) {
    if (listItem.test(line)) items.push(line.replace(listItem, ""));
    else items[items.length - 1] += "\n" + line.trim();
  }
  const content = items.map((item) => <li>{inline(item)}</li>);
  return listItem.exec(lines[0])![1] ? <ol>{content}</ol> : <ul class="dots">{content}</ul>;
}

function cells(line: string) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replace(/\\\|/g, "|")));
}

function table([head, , ...rows]: string[]) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead><tr>{cells(head).map((c) => <th scope="col">{c}</th>)}</tr></thead>
        <tbody>{rows.map((row) => <tr>{cells(row).map((c) => <td>{c}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}
