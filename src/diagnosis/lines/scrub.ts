import {
  afterScheme,
  anyLead,
  anyName,
  escapedQuote,
  heredoc,
  isRandom,
  keyOrData,
  kindOfSecret,
  leads,
  nameBefore,
  named,
  nameEnd,
  nameOrOther,
  programArguments,
  readers,
  secretName,
  sign,
  value,
  valueAfter,
  wholeKey,
  word,
  words,
  yamlKey,
} from './secret-forms.ts';

/** Removes secrets from consecutive lines and counts them. No scrubber finds all secrets. */
export type Scrub = (texts: readonly string[]) => { readonly texts: readonly string[]; readonly removed: number };

const removedMark = '[removed]';

/** `isRefused` matches the patterns of the site. A matching line is removed completely. */
export function createScrub(isRefused: (text: string) => boolean = () => false): Scrub {
  return (texts) => {
    let removed = 0;
    let keyLines = 0;
    let blockKey = yamlKey;
    let isInside: ((text: string) => boolean) | undefined;
    const count = (text: string): string => {
      removed += 1;
      return text;
    };

    function scrubLine(text: string): string {
      if (keyLines > 0) {
        keyLines = keyEnd.test(text) ? 0 : keyLines - 1;
        return count(removedMark);
      }
      if (keyBegin.test(text.replaceAll(wholeKey, ''))) {
        keyLines = maxSecretLines;
        return count(removedMark);
      }
      if (isInside?.(text) === true) return text.trim() === '' ? text : count(removedMark);
      isInside = toBlock(text, blockKey);
      if (isRefused(text)) return count(removedMark);
      let clean = text;
      for (const { pattern, keep, only } of rules)
        if (only === undefined || only.test(text))
          clean = clean.replaceAll(pattern, (found: string, ...groups: unknown[]) => {
            // The last two arguments are the position and the whole text.
            const kept = keep(found, groups.slice(0, -2).map(toText));
            return kept === found ? found : count(kept);
          });
      for (const [programs, argument] of programRules) {
        const ends = [...clean.matchAll(programs)].map((found) => found.index + found[0].length);
        const [first = clean.length] = ends;
        const hide = (found: string, text: string, at: number): string =>
          isHarmless(text) || !ends.some((end) => end < first + at && first + at - end <= maxArguments)
            ? found
            : count(`${toQuote(text)}${removedMark}${toQuote(text)}`);
        clean = clean.slice(0, first) + clean.slice(first).replaceAll(argument, hide);
      }
      return clean;
    }

    const lines = texts.map((text) => text.slice(0, maxLength).split('\n'));
    keyLines = countBegun(lines.flat());
    blockKey = lines.flat().some((line) => kindOfSecret.test(line)) ? keyOrData : yamlKey;
    return { texts: lines.map((text) => text.map(scrubLine).join('\n')), removed };
  };
}

/** Returns the number of lines of a private key that began before the first line. */
function countBegun(lines: readonly string[]): number {
  const end = lines.findIndex((line) => keyEnd.test(line));
  return lines.slice(0, Math.max(0, end)).every((line) => /^(?:(?:Proc-Type|DEK-Info): .*|[\w+/=\s]*)$/.test(line))
    ? end + 1
    : 0;
}

/**
 * Returns a function that tests whether a further line still belongs to a secret: to a YAML block, or to a text that ends with
 * a given word (`<<EOT`).
 */
function toBlock(text: string, blockKey: RegExp): ((next: string) => boolean) | undefined {
  if (nameBefore.test(text)) return (next) => valueAfter.test(next);
  if (!/(?:[:{|>+-]|\d|<<.*|#.*)\s*$/.test(text)) return undefined;
  const word = heredoc.exec(text)?.[1];
  let left = maxSecretLines;
  if (word !== undefined) {
    let isOver = false;
    return (next) => {
      const isInside = !isOver && next.trim() !== word;
      isOver = !isInside || (left -= 1) === 0;
      return isInside;
    };
  }
  const [, key, sign, data] = blockKey.exec(text) ?? [];
  const before = key ?? data;
  if (before === undefined) return undefined;
  const isWhole = sign !== undefined || data !== undefined || text.includes('stringData');
  return (next) => {
    left -= 1;
    const unsigned = /[-+~]/.test(before) ? next.replace(/[-+~]/, ' ') : next;
    if (left < 0 || (next.trim() !== '' && unsigned.search(/\S/) <= before.length)) return false;
    if (isWhole) return true;
    left = 0;
    return !/^\s*(?:- |[\w."'-]+\s{0,3}:(?:\s|$)|[{[#])/.test(next);
  };
}

const maxLength = 16_384;
/** The maximum number of lines of a private key or of a YAML block. */
export const maxSecretLines = 200;
const keyBegin = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const keyEnd = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY/;

type Rule = {
  readonly pattern: RegExp;
  /** A fast test: lines that fail the test cannot match the pattern. */
  readonly only?: RegExp;
  /** Returns the part of a match to keep, which is the whole match if it is not a secret. */
  readonly keep: (found: string, groups: readonly string[]) => string;
};

const whole: Rule['keep'] = () => removedMark;
/** Keeps the text before the value and its quotes. */
const after: Rule['keep'] = (found, [before = '', value = '']) =>
  isHarmless(value) ? found : `${before}${toQuote(value)}${removedMark}${toQuote(value)}`;

const rules: readonly Rule[] = [
  ...words.map((pattern) => ({ pattern, keep: whole })),
  { pattern: /(\bhttps:\/\/hooks\.slack\.com\/(?:services|workflows)\/)([\w/-]{10,200})/g, keep: after },
  { pattern: /(\bhttps:\/\/[\w.-]{1,100}\/(?:api\/)?webhooks?\w{0,3}\/)([\w/@-]{20,300})/g, keep: after },
  // Users in URLs: `https://user:password@host`.
  {
    pattern: /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)([^\s/"']{1,500})@/gi,
    keep: (_found, [before = '']) => `${before}${removedMark}@`,
  },
  // Signatures and tokens in queries.
  {
    pattern:
      /([?&](?:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature|code|key|auth|jwt|session|sid)=)([^\s&"']{6,2000})/gi,
    keep: after,
  },
  // Headers.
  { pattern: /((?:proxy-)?authorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)([^\r\n"'\\]{3,})/gi, keep: after },
  { pattern: /(\b(?:set-)?cookie\s{0,3}:\s{0,3})([^\r\n"']{3,2000})/gi, keep: after },
  {
    pattern:
      /(\b(?:x-[a-z-]{0,30}(?:token|key|secret|auth)|private-token|x-rundeck-auth-token)\s{0,3}:\s{0,3})([^\s"']{3,500})/gi,
    keep: after,
  },
  { pattern: afterScheme, keep: after },
  { pattern: /("auth"\s{0,3}:\s{0,3})("[\w+/=]{8,2000}")/g, keep: after },
  // A Kubernetes Secret in one line, as in the annotation `last-applied-configuration`.
  {
    only: /kind\\?["']?\s?:\s?\\?["']?Secret\b/,
    pattern: /(\b(?:data|stringData)\\?["']?\s?:\s?(?:\{|map\[))([^\n]+)/g,
    keep: after,
  },
  // Input of a command.
  {
    pattern: new RegExp(
      String.raw`(\b(?:echo|printf|Write-Output)\s{1,3}(?:-\w{1,3}\s{1,3}|["']%s(?:\\n)?["']\s{1,3}){0,2})([^\n|]{1,300}?)(?=\s{0,3}\|(?:[^\n]{0,200}[\s/])?${readers})`,
      'g',
    ),
    keep: after,
  },
  { pattern: /()("[^"\n]{1,300}"|'[^'\n]{1,300}')(?=\s{0,3}\|\s{0,3}ConvertTo-SecureString)/gi, keep: after },
  // `password=`, `"token": `, `<secret>` and similar, in shell, JSON, YAML, XML and ini.
  {
    only: anyName,
    pattern: new RegExp(
      String.raw`(<(?:[\w:.-]{0,40}${secretName}[\w.-]{0,40}(?:\s[^>]{0,200})?|[\w:.-]{1,40}\s[^>]{0,100}["']${named}["'])>\s{0,20})([^<]{1,500})(?=<)`,
      'gi',
    ),
    keep: after,
  },
  // A value in YAML may contain spaces.
  {
    only: anyName,
    pattern: new RegExp(
      String.raw`^(\s{0,40}(?:- )?["']?${named}["']?\s{0,10}:\s{1,10})([^"'\s{[|>][^\n]{0,500})$`,
      'gim',
    ),
    keep: ofName,
  },
  {
    only: anyName,
    pattern: new RegExp(
      String.raw`(?<!\w)(--?[\w-]{0,40}${secretName}[\w-]{0,20}(?:[ =]{1,3}|["'],\s{0,3}(?=["'])))${value}`,
      'gi',
    ),
    keep: after,
  },
  {
    only: nameOrOther,
    pattern: new RegExp(
      String.raw`(?<!unexpected )((?:${nameEnd}|PGPASS|MYSQL_PWD|[\w-]{0,40}_PASS|\bpass|\b_auth)(?:\\?["']|${escapedQuote})?\s{0,10}${sign}\s{0,10}${escapedQuote}?)${value}`,
      'gi',
    ),
    keep: ofName,
  },
  // A value that a plan (`old -> new`) replaces.
  { pattern: new RegExp(String.raw`(\[removed\]\\?["']?\s{0,3}->\s{0,3})${value}`, 'g'), keep: after },
  {
    pattern: new RegExp(
      String.raw`(\bidentified\s{1,5}(?:with\s{1,5}\w{1,40}\s{1,5})?by\s{1,5}(?:password\s{1,5})?|\b(?:password|psk)\s{1,5}|\bpassword\s{0,3}\(\s{0,3}|\bset\s{1,3}password\b[^\n=]{0,100}=\s{0,3})('[^']{1,500}'|"[^"]{1,500}")`,
      'gi',
    ),
    keep: after,
  },
  { pattern: /(\b(?:user|role|grant)\b[^\n]{0,100}\bidentified\s{1,5}by\s{1,5})([^\s'";]{1,200})/gi, keep: after },
  { pattern: /(\blogin\s{1,5}\S{1,100}\s{1,5}password\s{1,5})(\S{1,200})/gi, keep: after },
  { only: anyLead, pattern: new RegExp(`(${leads.map(([, lead]) => lead).join('|')})${word}`, 'g'), keep: after },
  {
    pattern:
      /(\b(?:curl|wget|http|https|etcdctl|govc|skopeo|check_http)\b[^\n]{0,300}?\s(?:-\w{0,6}[uaUE]|--user|--auth|--proxy-user|--cert|--(?:src-|dest-)?creds)[ =]?["']?[^\s:"']{1,100}:)([^\s"']{1,200})/g,
    keep: after,
  },
  { pattern: /(\bcurl\b[^\n]{0,300}?\s(?:-b|--cookie)[ =]?["']?[^\s=;"']{1,60}=)([^\n"']{1,1000})/g, keep: after },
  {
    pattern: /(\b(?:(?:sqlplus|exp|imp|expdp|impdp)\s|jdbc:oracle:)[^\n/]{0,100}\/)([^\s@/]{1,100})(?=@)/g,
    keep: after,
  },
  { pattern: /(\b[\w.-]{1,60}:)([^\s@/"']{1,200})(?=@(?:tcp|unix)\()/g, keep: after },
  { pattern: /(\bmysqlsh\b[^\n]{0,100}?\s[\w.-]{1,60}:)([^\s@/"']{1,200})(?=@)/g, keep: after },
  { pattern: /(\s-U\s{0,3}[\w.\\/-]{1,60}%)(\S{1,200})/g, keep: after },
  {
    only: anyName,
    pattern: new RegExp(
      String.raw`(\b(?:name|key)\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?${named}\\?["']?,?\s{0,3}\\?["']?value\\?["']?\s{0,3}[:=]\s{0,3})${value}`,
      'gi',
    ),
    keep: after,
  },
  // In sentences, and in settings without `=`, only texts that look like passwords: `password is SECRET`, `rootpw SECRET`.
  {
    only: nameOrOther,
    pattern: new RegExp(
      String.raw`((?:${nameEnd}|\bAUTH|-server (?:key|community)|^[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:)(?:\s{1,3}(?:(?:for|of)\s{1,3}(?:user\s{1,3})?[^\s:]{1,60}|is|was|has|been|set|to|now|changed|reset|generated|\(\w{1,20}\))){0,6}(?:\s{0,3}:)?(?:(?<=\w:)|\s{1,3})(?:[057]\s{1,3})?)(?=\S{0,60}\d)(?=\S{0,60}[A-Z])(?=\S{0,60}[a-z]|\S{0,60}[!#$%^&*+~?@=][A-Za-z0-9])([^\s/:"']{8,200})`,
      'g',
    ),
    keep: after,
  },
  { pattern: /[\w+/=-]{32,}/g, keep: (found) => (isRandom(found) ? removedMark : found) },
];

/** Arguments such as `mysql -pSECRET`. One expression for all programs would be slow. An argument may contain another command. */
const programRules = programArguments.map(
  ([programs, flags]) =>
    [
      new RegExp(String.raw`\b(?:${programs})\b`, 'g'),
      new RegExp(String.raw`(?<=[\s"'](?:${flags})(?:\s{1,3}|[=:]|["'],\s{0,3}|))${word}`, 'g'),
    ] as const,
);
const maxArguments = 325;

function ofName(found: string, groups: readonly string[]): string {
  const [before = '', text = ''] = groups;
  // The working directory.
  if (/pwd\W*$/i.test(before) && /^["']?[/~]/.test(text)) return found;
  if (/(?:error|exception)\W*$/i.test(before) || /\bPASS: *$/.test(before)) return found;
  // A line of a source file.
  if (/\.(?:java|kt|scala|groovy|py|go|rb|[jt]s|c|cc|cpp|h|cs|rs|php|pl|sh):$/.test(before) && /^\d/.test(text))
    return found;
  return after(found, groups);
}

/** Reports whether a text is a placeholder that programs write instead of a secret. */
function isHarmless(text: string): boolean {
  return /^\\?["']?(?:\[removed\]|\[?SECURE\]?|\*{2,}|x{3,}|<[\w -]{0,40}>?|\$\{?\w*\}?|null|none|nil|true|false|yes|no|undefined|missing|invalid|expired|required|not|is|was|empty|\W*|\[?(?:redacted|masked|hidden|filtered)\]?)\\?["']?[.,;:!]?$/i.test(
    text,
  );
}

function toQuote(text: string): string {
  return /^\\?["']/.exec(text)?.[0] ?? '';
}

function toText(group: unknown): string {
  return typeof group === 'string' ? group : '';
}
