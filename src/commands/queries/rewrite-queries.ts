import { Composer, CST, isMap, isScalar, isSeq, LineCounter, Parser, type Scalar, visit, type YAMLMap } from 'yaml';
import { type Translation, toLabel, translateQuery } from './translate-query.ts';

/** A file with rewritten queries, and the list of unchanged queries. */
type Rewritten = { readonly text: string; readonly rewritten: number; readonly left: readonly Left[] };

type Left = { readonly line: number; readonly what: string; readonly because: string };

/** Rewrites the queries of a dashboard or of rules, in JSON or YAML: each panel, rule or variable completely or not at all. */
export function rewriteQueries(text: string): Rewritten {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const documents = [...new Composer({ keepSourceTokens: true }).compose(tokens)];
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) throw new Error(error.message);
  const left: Left[] = [];
  const seen = new Set<Scalar>();
  let rewritten = 0;
  for (const document of documents) {
    visit(document, {
      Map: (_key, map) => {
        const unit = toUnit(map);
        if (unit === undefined || unit.queries.some((query) => seen.has(query))) return undefined;
        for (const query of unit.queries) seen.add(query);
        const reasons: string[] = [];
        const edits = listEdits(unit, reasons);
        const [because] = reasons;
        if (because !== undefined) {
          left.push({ line: lines.linePos(map.range?.[0] ?? 0).line, what: unit.what, because });
        } else if (edits.length > 0) {
          rewritten += 1;
          for (const { scalar, value } of edits) write(scalar, value);
        }
        return undefined;
      },
    });
  }
  return { text: tokens.map((token) => CST.stringify(token)).join(''), rewritten, left };
}

/** A part of the file that is rewritten completely or not at all. */
type Unit = {
  readonly what: string;
  readonly queries: readonly Scalar<string>[];
  /** The map whose texts contain labels of the queries; absent for variables, which keep their names. */
  readonly texts?: YAMLMap;
};

function toUnit(map: YAMLMap): Unit | undefined {
  const targets = map.get('targets');
  if (isSeq(targets)) {
    const queries = targets.items.flatMap((target) => (isMap(target) ? (findText(target, 'expr') ?? []) : []));
    return { what: `panel ${quoteTitle(map, 'title')}`, texts: map, queries };
  }
  const rule = findText(map, 'expr');
  const kind = ['alert', 'record'].find((key) => map.has(key));
  if (rule !== undefined && kind !== undefined) {
    return { what: `${kind} ${quoteTitle(map, kind)}`, texts: map, queries: [rule] };
  }
  // An annotation, or an alert of Grafana.
  if (rule !== undefined) return { what: `query ${quoteTitle(map, 'name')}`, texts: map, queries: [rule] };
  if (map.get('type') !== 'query' || !map.has('name')) return undefined;
  const query = map.get('query');
  const found = [
    findText(map, 'query'),
    findText(map, 'definition'),
    isMap(query) ? findText(query, 'query') : undefined,
  ];
  return { what: `variable ${quoteTitle(map, 'name')}`, queries: found.flatMap((each) => each ?? []) };
}

function findText(map: YAMLMap, key: string): Scalar<string> | undefined {
  const found = map.get(key, true);
  // This cast is safe: the value is a text.
  return isScalar(found) && typeof found.value === 'string' ? (found as Scalar<string>) : undefined;
}

function quoteTitle(map: YAMLMap, key: string): string {
  return JSON.stringify(findText(map, key)?.value ?? '');
}

type Edit = { readonly scalar: Scalar<string>; readonly value: string };

function listEdits({ texts, queries }: Unit, reasons: string[]): readonly Edit[] {
  const edits = queries.flatMap((scalar): Edit[] => {
    const translation = translateVariable(scalar.value) ?? translateQuery(scalar.value);
    if (translation === undefined) return [];
    if ('query' in translation) return [{ scalar, value: translation.query }];
    reasons.push(translation.because);
    return [];
  });
  return edits.length === 0 || texts === undefined
    ? edits
    : [...edits, ...listLabelEdits(texts, new Set(queries), reasons)];
}

/** Translates the two forms of a Grafana variable whose query names labels. */
function translateVariable(query: string): Translation | undefined {
  const [, selector, label] = /^\s*label_values\((?:(.+),)?\s*(\w+)\s*\)\s*$/s.exec(query) ?? [];
  if (label === undefined) return undefined;
  const translation = selector === undefined ? undefined : translateQuery(selector, true);
  if (translation !== undefined && 'because' in translation) return translation;
  const isOfOther = translation !== undefined || (selector === undefined && label === 'instance_address');
  if (!isOfOther) return undefined;
  const reasons: string[] = [];
  const name = toLabel(label, reasons);
  const [because] = reasons;
  if (because !== undefined) return { because };
  return { query: `label_values(${translation?.query ?? 'automation_server_info'}, ${name})` };
}

/** Lists edits of labels in legends, in texts of alerts, and in names of columns. */
function listLabelEdits(map: YAMLMap, queries: ReadonlySet<Scalar<string>>, reasons: string[]): readonly Edit[] {
  const edits: Edit[] = [];
  visit(map, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value !== 'string' || queries.has(scalar as Scalar<string>)) return;
      const value = translateText(scalar.value, reasons);
      if (value !== scalar.value) edits.push({ scalar: scalar as Scalar<string>, value });
    },
  });
  return edits;
}

function translateText(text: string, reasons: string[]): string {
  if (/^\w+$/.test(text)) return toLabel(text, []);
  return text.replaceAll(/(\{\{\s*(?:\$labels\.)?|\$labels\.)(\w+)/g, (_all, before: string, name: string) => {
    return before + toLabel(name, reasons);
  });
}

/** Writes a text in the style that it had in the file. */
function write({ srcToken }: Scalar, value: string): void {
  if (srcToken?.type === 'block-scalar') {
    const indent = /^ +/m.exec(srcToken.source)?.[0] ?? '';
    srcToken.source = value.replaceAll(/^(?=.)/gm, indent);
  } else if (srcToken !== undefined && CST.isScalar(srcToken)) {
    // A plain text gets quotes, because YAML would end it at a colon or a number sign.
    CST.setScalarValue(srcToken, value, srcToken.type === 'scalar' ? { type: 'QUOTE_SINGLE' } : {});
  }
}
