/** How secrets look: their names, words that are always secrets, and the texts before them in commands. */

export const wholeKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]{0,16000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** The modifier `(?i:…)` is not used, because V8 (Node 24.21) may then miss upper case. */
export const secretName = toAnyCase(
  '(?:passw(?:or)?d|passphrase|passwort|kennwort|contrase[nñ]a|mot[-_ ]de[-_ ]passe|senha|wachtwoord|l[oö]senord|has[lł]o|heslo|salasana|[пП]арол[ьа]|パスワード|密码|密碼|비밀번호|كلمة المرور|סיסמה|adgangskode|passord|lozinka|jelsz[oó]|pwd|(?:(?<![a-z])|bind|root|admin|user|db)pw(?![a-z]|(?<=\\.pw)[:/])|(?<![a-z])(?:psk|otp)(?![a-z])|pre[-_]?shared[-_]?key|secret(?:[ _-]key)?|token|api[-_ ]?key|access[-_ ]?key|account[-_]?key|private[-_]?key|encryption[-_]?key|signing[-_]?key|licen[cs]e[-_]?key|auth[-_]?key|client[-_]?key[-_]?data|credentials?|passcode|(?:store|key|db|user|admin|root|mail|ssh|become|require)[-_]?pass(?![a-z])|masterauth|connection[-_]?string|sas[-_]?key)',
);
/** Matches the end of a name from any position in a word, because a search for its beginning takes long. */
export const nameEnd = String.raw`${secretName}[\w.-]{0,40}`;
export const named = String.raw`[\w.-]{0,40}${nameEnd}`;
/** Quotes and signs of assignment, as escaped in URLs, HTML and JSON. */
export const escapedQuote = String.raw`(?:%2[27]|&(?:quot|apos|#3[49]);|\\u002[27])`;
export const sign = String.raw`(?:=>|:=|::(?=\s)|:(?!:)|[=：＝]|%3[aAdD]|\\u003[aAdD])`;
export const value = String.raw`([bu$@]?\\?"(?:[^"\\]|\\(?!")[^])+\\?"?|[buN$]?'[^']+'?(?:\\'+[^']*'?)*|[^\s"',;&<>{}()[\]][^\s"',;&<>]*)`;
/** A word of a command, also within a list of words. */
export const word = String.raw`("(?!,\s)[^"]+"|'(?!,\s)[^']+'(?:\\'+[^']*'?)*|[^\s"'-]\S{0,200}?(?=["']?[\],]|\s|$))`;
export const yamlKey = new RegExp(
  String.raw`^(\s{0,80}(?:[-+~]\s{0,80})?(?:- )?)["']?(?:${named}|stringData)["']?\s{0,10}:\s{0,10}(?:!\S{1,20}\s{0,5})?([|>][-+\d]{0,2})?\s{0,10}(?:#.*)?$`,
  'i',
);
/** In a Kubernetes Secret, values may have any names. */
export const keyOrData = new RegExp(
  String.raw`${yamlKey.source}|^(\s{0,80}(?:[-+~]\s{0,80})?(?:- )?)["']?data["']? ?: ?\{?\s*(?:#.*)?$`,
  'i',
);
export const kindOfSecret = /^\s{0,80}(?:[-+~]\s{0,80})?(?:- )?["']?kind["']? ?: ["']?Secret["']?,?\s*(?:#.*)?$/;
/** The name of a value in the next line: `- name: DB_PASSWORD`. */
export const nameBefore = new RegExp(
  String.raw`^\W{0,80}(?:[nN]ame|[kK]ey)["']?\s{0,10}[:=]\s{0,10}["']?${named}["']?,?\s*$`,
);
export const valueAfter = /^\W{0,80}value["']?\s{0,10}[:=]/i;
export const heredoc = new RegExp(String.raw`${nameEnd}["']?\s{0,10}[:=]\s{0,10}<<[-~]?["']?(\w{1,40})["']?\s*$`, 'i');
/** Returns patterns for programs and arguments that read a secret from their input. */
function toReaders(before: string): string {
  return String.raw`(?:passwd|chpasswd|smbpasswd|htpasswd|kinit|cryptsetup|su|sudo\s(?:\S{1,40}\s)?-\w{0,5}S\w{0,5}|gpg2?|openssl|sshpass|ansible-vault|(?:gcloud|docker|podman)\s{1,3}secrets?|${before}-(?:stdin|fd)|pass\w{0,3}\s{1,3}stdin)(?![\w-])`;
}
export const readers = toReaders(String.raw`\S{0,40}`);

function toAnyCase(source: string): string {
  return source.replaceAll(/\\.|\[([^\]]*)\]|[a-zñ]/g, (found: string, set?: string) => {
    const letters = set ?? (found.length === 1 ? found : '');
    return /[a-z]/.test(letters) ? `[${letters}${letters.toUpperCase()}]` : found;
  });
}

/** A token after its scheme. In lower case, the scheme may be a word of a sentence, so the token must have a digit or mixed case. */
export const afterScheme =
  /(\b(?:Bearer|Basic|Negotiate|(?:bearer|basic|negotiate)(?=\s{1,3}\S{0,40}(?:\d|[a-z][A-Z])))\s{1,3})(?![A-Z]?[a-z]+\b(?![+/=]))([\w.+/=~-]{8,4000})/g;

/** Words that are always secrets. */
export const words: readonly RegExp[] = [
  wholeKey,
  // JSON Web Tokens.
  /\beyJ[\w-]{5,2000}\.[\w-]{5,8000}(?:\.[\w-]{0,2000})?/g,
  // Tokens of cloud providers and code hosts, by their prefixes.
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
  /\b(?:gh[opsur]_\w{20,255}|github_pat_\w{20,255})/g,
  /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{16,255}/g,
  /\bxox[abeoprs]-[\w-]{10,255}|\bxapp-[\w-]{10,255}/g,
  /\bAIza[\w-]{30,60}|\bya29\.[\w-]{20,2000}|\bGOCSPX-[\w-]{20,60}/g,
  /\b(?:sk|rk|pk|whsec)_(?:(?:live|test)_)?[A-Za-z0-9]{16,255}/g,
  /\bsk-[\w-]{20,255}/g,
  /\b(?:npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{16,255}|dckr_pat_[\w-]{20,60}|rubygems_[0-9a-f]{40,60})/g,
  /\bSG\.[\w-]{16,64}\.[\w-]{16,64}|\b(?:AC|SK)[0-9a-f]{32}\b|\bkey-[0-9a-f]{32}\b/g,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{20,100}/g,
  /\bhv[bsr]\.[\w-]{20,500}|\b[bs]\.[A-Za-z0-9]{24}\b/g,
  /\bdo[opr]_v1_[0-9a-f]{40,80}|\bdapi[0-9a-f]{32}\b|\bATATT3[\w=-]{20,300}|\bglsa_\w{32,60}|\bNRAK-[A-Z0-9]{20,40}/g,
  // Hashes of passwords, as in `/etc/shadow`.
  /(?<![\w$])\$(?:1|2[abxy]|5|6|7|y|apr1|argon2\w{0,2})\$[\w./$=,+-]{8,200}/g,
];

/** Programs, and their arguments that a secret follows. */
export const programArguments: readonly (readonly [programs: string, flags: string])[] = [
  [String.raw`mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlsh|mariadb|mariadb-\w{1,20}`, '-p(?!\\s)'],
  [
    String.raw`sshpass|(?:docker|podman|buildah|nerdctl|az|oc|cf|registry|auth)["',\s]{1,4}login|rdesktop|mongo|mongosh|mongo\w{1,10}|beeline|psexec|rabbitmqadmin|xtrabackup|mariabackup|twine|cqlsh|check_\w{0,10}sql\w{0,10}|esxcli|ncftp\w{1,5}|useradd|usermod|unrar|rar|7z|winrs|kubectl\s{1,3}patch\s{1,3}secrets?`,
    '-p',
  ],
  [String.raw`ipmitool|zip|unzip|isql|tsql|osql|sqlcmd|bcp|mosquitto_\w{3}|smbclient|htpasswd`, '-[pP]'],
  [String.raw`ldap\w{2,10}|slappasswd`, '-[wsa]'],
  [String.raw`redis-cli|plink|pscp|psftp|swaks`, '-(?:a|pw|ap)(?![a-oq-z])'],
  [String.raw`snmp\w{2,10}`, '-[cAX]'],
  ['openssl', '-[kK](?=\\s)'],
  ['curl', '--pass|--oauth2-bearer'],
  ['put-parameter|keyvault\\s{1,3}secret\\s{1,3}set', '--value'],
  ['schtasks|[xw]freerdp', '/r?p'],
];

/** Texts directly before a secret. Each lead has a short sign for a quick test of lines. */
export const leads: readonly (readonly [sign: string, lead: string])[] = [
  [
    'rabbitmqctl',
    String.raw`\brabbitmqctl\s(?:[^\n]{0,60}\s)?(?:add_user|change_password|authenticate_user)\s{1,3}\S{1,60}\s{1,3}`,
  ],
  [String.raw`net\s`, String.raw`\bnet\s{1,3}user\s{1,3}\S{1,60}\s{1,3}(?![/*])`],
  [String.raw`net\s`, String.raw`\bnet\s{1,3}use\s[^\n]{0,200}(?:/user:\S{1,60}|\\\\\S{1,100})\s{1,3}(?![/*])`],
  [String.raw`vault\s`, String.raw`\bvault\s{1,3}(?:login|operator\s{1,3}unseal)\s{1,3}`],
  [String.raw`vault\s`, String.raw`\bvault\s{1,3}kv\s{1,3}(?:put|patch)\s[^\n]{0,300}?\s[\w.-]{1,60}=`],
  ['-literal', String.raw`--from-literal[= ]["']?[\w.-]{1,60}=`],
  ['http-basic', String.raw`\bhttp-basic\.\S{1,60}\s{1,3}\S{1,60}\s{1,3}`],
  [String.raw`send\s`, String.raw`\bsend\s{1,3}(?:--\s{1,3})?(?="[^"\n]{1,200}\\[rn]")`],
  [
    String.raw`connect\(`,
    String.raw`\bconnect\(\s{0,3}["'][^"'\n]{1,60}["'],\s{0,3}(?=["'][^"'\n]{1,200}["'],\s{0,3}(?:url=)?["']t3s?:)`,
  ],
  ['[pP][iI][nN]', String.raw`\b[pP][iI][nN]\s{0,3}[=:]\s{0,3}(?=\d{4,8}\b)`],
  ['db2', String.raw`\bdb2\s[^\n]{0,100}\susing\s{1,3}`],
  ['wpa_passphrase', String.raw`\bwpa_passphrase\s{1,3}(?:"[^"]{1,60}"|\S{1,60})\s{1,3}`],
  ['lftp', String.raw`\blftp\s[^\n]{0,100}-u\s{1,3}[^\s,]{1,60},`],
  ['NetworkCredential', String.raw`\bNetworkCredential\(\s{0,3}["'][^"']{0,60}["']\s{0,3},\s{0,3}`],
  ['setx|setenv', String.raw`\b(?:setx|setenv)\s{1,3}${named}\s{1,3}`],
  [String.raw`define\(`, String.raw`\bdefine\(\s{0,3}["']${named}["']\s{0,3},\s{0,3}`],
  [String.raw`variable\s`, String.raw`\bvariable\s{1,3}"${named}"[^\n]{0,200}\bdefault\s{0,10}=\s{0,10}`],
  [
    'htpasswd',
    String.raw`\bhtpasswd\b["',\s]{1,4}(?=[^\n]{0,60}-\w{0,5}b)(?:\S{1,100}\s{1,3}){2,5}(?=\S{1,200}\s{0,10}(?:$|[|;&]))`,
  ],
  ['rman|sqlplus', String.raw`\b(?:rman\s[^\n/]{0,60}target|sqlplus(?:\s{1,3}-\w{1,3}){0,3})\s{1,3}["']?\w{1,40}/`],
  ['PASS', String.raw`(?:^|>|\bUSER\s\S{1,60})\s{0,5}PASS\s{1,3}(?!\S{0,200}[/.])`],
  ['smbclient', String.raw`\bsmbclient\s{1,3}//\S{1,100}\s{1,3}`],
  ['ConvertTo', String.raw`\bConvertTo-SecureString\s{1,5}(?:-String\s{1,5})?(?!-)`],
  ['<<<', String.raw`${toReaders('')}[^\n|]{0,200}<<<\s{0,3}`],
];

export const anyName = new RegExp(secretName);
export const nameOrOther = new RegExp(
  String.raw`${secretName}|_PASS|\bpass|_auth|\bAUTH|-server |^[^\s:]+:[^\s:]+:[^\s:]+:`,
  'i',
);
export const anyLead = new RegExp(leads.map(([sign]) => sign).join('|'));

/** Reports whether a word is random: letters and digits, upper and lower case alternate often, unlike in names and paths. */
export function isRandom(word: string): boolean {
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
