/** Removes secrets from consecutive lines, and counts them. No scrubber finds all secrets. */
export type Scrub = (texts: readonly string[]) => { readonly texts: readonly string[]; readonly removed: number };

export const removedMark = '[removed]';

/** `isRefused` matches the patterns of the site: a matching line is removed completely. */
export function createScrub(isRefused: (text: string) => boolean = () => false): Scrub {
  return (texts) => {
    let removed = 0;
    let keyLines = 0;
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
        keyLines = maxKeyLines;
        return count(removedMark);
      }
      if (isRefused(text)) return count(removedMark);
      let clean = text;
      for (const { pattern, keep } of rules)
        clean = clean.replaceAll(pattern, (found: string, ...groups: unknown[]) => {
          // The last three arguments are the position, the whole text and the named groups.
          const kept = keep(found, groups.slice(0, -2).map(toText));
          return kept === found ? found : count(kept);
        });
      return clean;
    }

    const lines = texts.map((text) => text.slice(0, maxLength).split('\n'));
    keyLines = countBegun(lines.flat());
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

const maxLength = 16_384;
const maxKeyLines = 200;
const keyBegin = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const keyEnd = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY/;
const wholeKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]{0,16000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

type Rule = {
  readonly pattern: RegExp;
  /** Returns the part of a match to keep: the whole match if it is not a secret. */
  readonly keep: (found: string, groups: readonly string[]) => string;
};

const whole: Rule['keep'] = () => removedMark;
/** Keeps the text before the value, and its quotes. */
const after: Rule['keep'] = (found, [before = '', value = '']) =>
  isHarmless(value) ? found : `${before}${toQuote(value)}${removedMark}${toQuote(value)}`;

const secretName =
  '(?:passw(?:or)?d|passphrase|passwort|pwd|secret|token|api[-_]?key|access[-_]?key|account[-_]?key|private[-_]?key|encryption[-_]?key|auth[-_]?key|credentials?|passcode|(?:store|key|db|user|admin|root|mail|ssh|become)[-_]?pass(?![a-z])|connection[-_]?string|sas[-_]?key)';
const value = String.raw`(\\?"(?:[^"\\]|\\(?!")[^])+\\?"?|b?'[^']+'?(?:\\'+[^']*'?)*|[^\s"',;&<>{}()[\]][^\s"',;&<>]*)`;

const rules: readonly Rule[] = [
  { pattern: wholeKey, keep: whole },
  // JSON Web Tokens.
  { pattern: /\beyJ[\w-]{5,2000}\.[\w-]{5,8000}(?:\.[\w-]{0,2000})?/g, keep: whole },
  // Tokens of cloud providers and code hosts, which have a prefix.
  { pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g, keep: whole },
  { pattern: /\b(?:gh[opsur]_\w{20,255}|github_pat_\w{20,255})/g, keep: whole },
  { pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{16,255}/g, keep: whole },
  { pattern: /\bxox[abeoprs]-[\w-]{10,255}|\bxapp-[\w-]{10,255}/g, keep: whole },
  { pattern: /\bAIza[\w-]{30,60}|\bya29\.[\w-]{20,2000}|\bGOCSPX-[\w-]{20,60}/g, keep: whole },
  { pattern: /\b(?:sk|rk|pk|whsec)_(?:(?:live|test)_)?[A-Za-z0-9]{16,255}/g, keep: whole },
  { pattern: /\bsk-[\w-]{20,255}/g, keep: whole },
  {
    pattern: /\b(?:npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{16,255}|dckr_pat_[\w-]{20,60}|rubygems_[0-9a-f]{40,60})/g,
    keep: whole,
  },
  { pattern: /\bSG\.[\w-]{16,64}\.[\w-]{16,64}|\b(?:AC|SK)[0-9a-f]{32}\b|\bkey-[0-9a-f]{32}\b/g, keep: whole },
  { pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{20,100}/g, keep: whole },
  { pattern: /\bhv[bsr]\.[\w-]{20,500}|\b[bs]\.[A-Za-z0-9]{24}\b/g, keep: whole },
  {
    pattern:
      /\bdo[opr]_v1_[0-9a-f]{40,80}|\bdapi[0-9a-f]{32}\b|\bATATT3[\w=-]{20,300}|\bglsa_\w{32,60}|\bNRAK-[A-Z0-9]{20,40}/g,
    keep: whole,
  },
  { pattern: /(\bhttps:\/\/hooks\.slack\.com\/(?:services|workflows)\/)([\w/-]{10,200})/g, keep: after },
  { pattern: /(\bhttps:\/\/[\w.-]{1,100}\/(?:api\/)?webhooks?\w{0,3}\/)([\w/@-]{20,300})/g, keep: after },
  // Users in addresses: `https://user:password@host`.
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
  { pattern: /(\b(?:Bearer|Basic|Negotiate)\s{1,3})([\w.+/=~-]{12,4000})/g, keep: after },
  // `password=`, `"token": `, `<secret>` and similar, in shell, JSON, YAML, XML and ini.
  {
    pattern: new RegExp(
      String.raw`(<[\w:.-]{0,40}${secretName}[\w.-]{0,40}(?:\s[^>]{0,200})?>\s{0,20})([^<]{1,500})(?=<)`,
      'gi',
    ),
    keep: after,
  },
  // A value in YAML may have spaces.
  {
    pattern: new RegExp(
      String.raw`^(\s{0,40}(?:- )?["']?[\w.-]{0,40}${secretName}[\w.-]{0,40}["']?\s{0,10}:\s{1,10})([^"'\s{[][^\n]{0,500})$`,
      'gim',
    ),
    keep: ofName,
  },
  {
    pattern: new RegExp(String.raw`(?<!\w)(--?[\w-]{0,40}${secretName}[\w-]{0,20}[ =]{1,3})${value}`, 'gi'),
    keep: after,
  },
  {
    pattern: new RegExp(
      String.raw`(?<!unexpected )((?:[\w.-]{0,40}${secretName}[\w.-]{0,40}|PGPASS|MYSQL_PWD|[\w-]{0,40}_PASS|\bpass)\\?["']?\s{0,10}(?:=>|:=|[:=])\s{0,10})${value}`,
      'gi',
    ),
    keep: ofName,
  },
  {
    pattern: new RegExp(
      String.raw`(\bidentified\s{1,5}(?:with\s{1,5}\w{1,40}\s{1,5})?by\s{1,5}(?:password\s{1,5})?|\bpassword\s{1,5})('[^']{1,500}'|"[^"]{1,500}")`,
      'gi',
    ),
    keep: after,
  },
  { pattern: /(\blogin\s{1,5}\S{1,100}\s{1,5}password\s{1,5})(\S{1,200})/gi, keep: after },
  // Arguments: `mysql -pSECRET`, `sshpass -p SECRET`, `curl -u user:SECRET`.
  {
    pattern: /(\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n]{0,300}?\s-p)([^\s-][^\s]{0,200})/g,
    keep: after,
  },
  {
    pattern:
      /(\b(?:sshpass|smbclient|htpasswd|rdesktop|docker login|az login|ldapsearch|ldapmodify|mongo|mongosh|mongodump|sqlcmd|bcp|beeline|redis-cli|ipmitool|psexec|plink|zip|unzip|7z|rabbitmqadmin)\b[^\n]{0,300}?\s-[pPwa]\s{0,3})([^\s-][^\s]{0,200})/g,
    keep: after,
  },
  {
    pattern:
      /(\b(?:curl|wget|http|https)\b[^\n]{0,300}?\s(?:-u|--user|-a|--auth|-U|--proxy-user)[ =]?["']?[^\s:"']{1,100}:)([^\s"']{1,200})/g,
    keep: after,
  },
  {
    pattern: /(\b(?:(?:sqlplus|exp|imp|expdp|impdp)\s|jdbc:oracle:)[^\n/]{0,100}\/)([^\s@/]{1,100})(?=@)/g,
    keep: after,
  },
  { pattern: /(\b[\w.-]{1,60}:)([^\s@/"']{1,200})(?=@(?:tcp|unix)\()/g, keep: after },
  { pattern: /(\s-U\s{0,3}[\w.\\/-]{1,60}%)(\S{1,200})/g, keep: after },
  { pattern: new RegExp(String.raw`(\bConvertTo-SecureString\s{1,5}(?:-String\s{1,5})?)${value}`, 'gi'), keep: after },
  {
    pattern: new RegExp(
      String.raw`(\bname\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?[\w.-]{0,40}${secretName}[\w.-]{0,40}\\?["']?,?\s{0,3}\\?["']?value\\?["']?\s{0,3}[:=]\s{0,3})${value}`,
      'gi',
    ),
    keep: after,
  },
  // Long random words.
  { pattern: /[\w+/=-]{32,}/g, keep: (found) => (isRandom(found) ? removedMark : found) },
];

function ofName(found: string, groups: readonly string[]): string {
  const [before = '', text = ''] = groups;
  // The working directory.
  if (/pwd\W*$/i.test(before) && /^["']?[/~]/.test(text)) return found;
  if (/(?:error|exception)\W*$/i.test(before)) return found;
  return after(found, groups);
}

/** Placeholders that programs write instead of a secret. */
function isHarmless(text: string): boolean {
  return /^\\?["']?(?:\[removed\]|\[?SECURE\]?|\*{2,}|x{3,}|<[\w -]{0,40}>?|\$\{?\w*\}?|null|none|nil|true|false|yes|no|undefined|missing|invalid|expired|required|not|is|was|empty|\W*|\[?(?:redacted|masked|hidden|filtered)\]?)\\?["']?[.,;:!]?$/i.test(
    text,
  );
}

function toQuote(text: string): string {
  return /^\\?["']/.exec(text)?.[0] ?? '';
}

/** In random words, letters and digits, upper and lower case alternate often; in names and paths they do not. */
function isRandom(word: string): boolean {
  if (/^[0-9a-f-]+$/i.test(word) || !/\d/.test(word)) return false;
  const parts = word
    .split(/[^0-9A-Za-z]+/)
    .filter((part) => !/^[0-9a-f]+$/.test(part) && countRuns(part) > Math.max(1, 0.3 * part.length));
  return parts.join('').length >= minRandom && new Set(parts.join('')).size >= 12;
}

const minRandom = 24;

function countRuns(part: string): number {
  return part.match(/[0-9]+|[A-Z]+|[a-z]+/g)?.length ?? 0;
}

function toText(group: unknown): string {
  return typeof group === 'string' ? group : '';
}
