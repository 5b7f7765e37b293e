// Schemas as trees: each field with its type, its limits and what it means.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { resolve, type Document, type Schema } from "./document";
import { inline } from "./markdown";

/** Says the type of a value in words: "array of Node", "string or null". */
export function typeName(s: Schema): string {
  if (s.$ref) return s.$ref.split("/").pop()!;
  const either = s.oneOf ?? s.anyOf;
  if (either) return [...new Set(either.map(typeName))].join(" or ");
  if (s.allOf) return s.allOf.map(typeName).join(" and ");
  const names = [s.type ?? (s.properties ? "object" : "any value")].flat();
  if (s.nullable) names.push("null");
  return names.map((n) => (n === "array" && s.items ? "array of " + typeName(s.items) : n)).join(" or ");
}

function range(unit: string, least?: number, most?: number): string[] {
  if (least !== undefined && least === most) return [`exactly ${least}${unit}`];
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}

/** Says what a value has to be beside its type. Parts in backticks are code. */
function limits(s: Schema): string[] {
  const code = (v: unknown) => "`` " + JSON.stringify(v) + " ``";
  return [
    ...(s.format ? [s.format] : []),
    ...(s.contentMediaType ? [s.contentMediaType] : []),
    ...range("", s.minimum, s.maximum),
    ...(s.exclusiveMinimum === undefined ? [] : [`more than ${s.exclusiveMinimum}`]),
    ...(s.exclusiveMaximum === undefined ? [] : [`less than ${s.exclusiveMaximum}`]),
    ...(s.multipleOf ? [`a multiple of ${s.multipleOf}`] : []),
    ...range(" characters", s.minLength, s.maxLength),
    ...range(" items", s.minItems, s.maxItems),
    ...range(" fields", s.minProperties, s.maxProperties),
    ...(s.uniqueItems ? ["no item twice"] : []),
    ...(s.pattern ? ["pattern `` " + s.pattern + " ``"] : []),
    ...(s.const === undefined ? [] : ["always " + code(s.const)]),
    ...(s.enum ? ["one of " + s.enum.map(code).join(", ")] : []),
    ...(s.default === undefined ? [] : ["default " + code(s.default)]),
    ...(s.examples ?? []).slice(0, 3).map((e) => "example " + code(e)),
    ...(s.readOnly ? ["read only"] : []),
    ...(s.writeOnly ? ["write only"] : []),
    ...(s.deprecated ? ["deprecated"] : []),
    ...(s.items && !s.items.$ref ? limits(s.items).map((l) => "each item: " + l) : []),
  ];
}

/** The limits of a value, and its meaning. */
export function Notes({ schema, description }: { schema: Schema; description?: string }) {
  const all = limits(schema);
  return (
    <>
      {description && <span class="means">{inline(description)}</span>}
      {all.length > 0 && <span class="limits">{inline(all.join("; "))}</span>}
    </>
  );
}

interface Row {
  name: string;
  schema: Schema;
  required?: boolean;
  field: boolean; // false: the name is ours
}

/** Returns what is in a value: its fields, those of its items, its alternatives. */
function rows(doc: Document, schema: Schema): Row[] {
  const s = resolve(doc, schema);
  const all: Row[] = Object.entries(s.properties ?? {}).map(([name, p]) => ({ name, schema: p, required: s.required?.includes(name), field: true }));
  if (s.additionalProperties && (s.properties || s.additionalProperties !== true)) {
    all.push({ name: s.properties ? "any other name" : "any name", schema: s.additionalProperties === true ? {} : s.additionalProperties, field: false });
  }
  for (const [name, list] of [["either", s.oneOf], ["either", s.anyOf], ["all of", s.allOf]] as const) {
    for (const [i, option] of (list ?? []).entries()) all.push({ name: i === 0 || name !== "either" ? name : "or", schema: option, field: false });
  }
  return all.length || !s.items ? all : rows(doc, s.items);
}

/** Details whose content is made while they are open: a schema may be part of itself. */
export function Later({ summary, open, children }: { summary: ComponentChildren; open?: boolean; children: () => ComponentChildren }) {
  const [shown, show] = useState(open ?? false);
  return (
    <details open={shown} onToggle={(e) => show(e.currentTarget.open)}>
      <summary>{summary}</summary>
      {shown && children()}
    </details>
  );
}

function Field({ doc, row }: { doc: Document; row: Row }) {
  const s = resolve(doc, row.schema);
  const deeper = rows(doc, s).length > 0;
  const array = s.items !== undefined;
  return (
    <li>
      {row.field ? <code class="name">{row.name}</code> : <i class="name">{row.name}</i>} <span class="type">{typeName(row.schema)}</span>
      {row.required && <b class="required"> required</b>}
      <Notes schema={s} description={s.description} />
      {deeper && (
        <Later summary={<>What is in {array ? "each item of " : ""}{row.field ? row.name : typeName(row.schema)}</>}>
          {() => <Tree doc={doc} schema={s} />}
        </Later>
      )}
    </li>
  );
}

function Tree({ doc, schema }: { doc: Document; schema: Schema }) {
  return <ul class="tree">{rows(doc, schema).map((row) => <Field doc={doc} row={row} />)}</ul>;
}

/** A schema from its root: its type, its limits and what is in it. */
export function Shape({ doc, schema }: { doc: Document; schema: Schema }) {
  const s = resolve(doc, schema);
  return (
    <div class="shape">
      <p><span class="type">{typeName(schema)}</span><Notes schema={s} description={s.description} /></p>
      <Tree doc={doc} schema={s} />
    </div>
  );
}
