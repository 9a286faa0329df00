import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programs, readSources, type Source } from './sources.ts';

type Phrase = { readonly banned: RegExp; readonly better: string };

/** Phrases that readers stumble over, each with the usual one. */
const phrases: readonly Phrase[] = [
  { banned: /\bcan not\b/i, better: 'write "cannot"' },
  { banned: /\bso (long|many|much)\b(?! (as|that)\b)/i, better: 'name the limit: "at most N", "longer than X"' },
  { banned: /\b(tells?|told) of\b/i, better: 'write "reports" or "returns"' },
  { banned: /\btells? (no|nothing)\b/i, better: 'write "does not report"' },
  { banned: /(?<!\bthere )\b(is|are) no (?!longer\b|more\b|less\b)\w+/i, better: 'write "is not a …"' },
  {
    banned: /\bsince (it|they|too|there|many|no|ends|starts|everything|nothing|only)\b(?! (started|start)\b)/i,
    better: 'write "because"; "since" is for times',
  },
  { banned: /, since (?!when\b|\$|\d|API|the first\b)/i, better: 'write "because"; "since" is for times' },
  { banned: /\bpolls? (is |are |was |were )?left out\b/i, better: 'write "skipped"' },
  { banned: /\bthe one before\b/i, better: 'write "the previous one"' },
  { banned: /(?<!')\banew\b/i, better: 'write "again" or "from the beginning"' },
  { banned: /\breckon(s|ed)? \w/i, better: 'write "estimates" or "computes"' },
  { banned: /\bbut for (?!the first)\w/i, better: 'write "except"' },
  { banned: /\bbeside (these|those|what|that|the|a|an)\b/i, better: 'write "in addition to" or "next to"' },
  { banned: /\b(mends?|mended) (it|the|this|that|them)\b/i, better: 'write "fix"' },
  { banned: /\bhands? out\b/i, better: 'write "serves"' },
  { banned: /(?<=[\w}])(?<!const|left) alone\b/i, better: 'write "only"' },
  { banned: /\bwhat becomes? of\b/i, better: 'write "the result of"' },
  { banned: /\bgoes on\b/i, better: 'write "continues" or "is in progress"' },
  { banned: /\bset aside\b/i, better: 'write "quarantined"' },
  { banned: /\bof (which|whom)\b(?= \w)/i, better: 'write two sentences, or "whose"' },
];

/** Rooms whose exported things are described by a verb or a noun. */
const describedRooms: readonly string[] = [
  'src/daemon',
  'src/executions',
  'src/tracing',
  'src/api',
  'src/schedule',
  'src/metrics',
  'src/state',
  'src/config',
  'src/status',
  'src/http',
  'src/collectors',
  'src/domain',
  'src/commands',
  'simulator',
];

const relativeStart = /^\/\*\* (What|Who|Whose|Where)\b.*\n(?:(?: \*.*)\n)*export\b|^ *\/\*\* (Whether)\b.*/gm;

/** One sentence for each line that holds a banned phrase, with the better one. */
export function findBannedPhrases(texts: readonly Source[]): readonly string[] {
  return texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      return phrases.flatMap(({ banned, better }) => {
        const found = banned.exec(line)?.[0];
        return found === undefined ? [] : [`${path}:${index + 1} says "${found}": ${better}.`];
      });
    }),
  );
}

/** One sentence for each exported thing whose comment starts with a relative clause. */
export function findRelativeComments(sources: readonly Source[], rooms = describedRooms): readonly string[] {
  return sources
    .filter(({ path }) => rooms.some((room) => path.startsWith(`${room}/`)))
    .flatMap(({ path, text }) =>
      [...text.matchAll(relativeStart)].map(([comment, word, whether]) => {
        const line = comment.split('\n', 1)[0];
        return `${path} starts a comment with "${word ?? whether}": start with a verb or a noun. ${line?.trim()}`;
      }),
    );
}

const title =
  /^\s*(?:(?:it|describe)[.\w]*\(|[\])]+\(|)\s*(?<quote>['"`])(?<words>[^]*?)\k<quote>,? *(?:async )?(?:\(|$|\{)/;

/** The names of tests and their groups, each in its line. */
export function readTestNames(sources: readonly Source[] = readSources(['test'])): readonly Source[] {
  return sources
    .filter(({ path }) => path.endsWith('.test.ts') && !path.startsWith('test/architecture'))
    .map(({ path, text }) => ({
      path,
      text: text
        .split('\n')
        .map((line) => title.exec(line)?.groups?.['words'] ?? '')
        .join('\n'),
    }));
}

/** Every text that users read, and the comments of the programs; without the texts of the simulator, which are the service's. */
export function readUserTexts(): readonly Source[] {
  const top = join(import.meta.dirname, '..', '..');
  const documents = ['docs', 'alerts', 'alerts/runbooks', 'dashboards'].flatMap((folder) =>
    readdirSync(join(top, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  return [
    ...readSources([...programs, 'alerts', 'dashboards']).map(({ path, text }) =>
      path.startsWith('simulator/') ? { path, text: commentsOf(text) } : { path, text },
    ),
    ...['README.md', 'CONTRIBUTING.md', 'src/README.md', ...documents].map((path) => ({
      path,
      text: readFileSync(join(top, path), 'utf8'),
    })),
  ];
}

/** The lines that are comments; all others are empty. */
function commentsOf(text: string): string {
  const lines = text.split('\n').map((line) => (/^\s*(\/\/|\/\*|\*)/.test(line) ? line : ''));
  return lines.join('\n');
}
