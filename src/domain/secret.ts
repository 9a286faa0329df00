import { describePath, describeReadError } from './read-error.ts';

/** Reads a text file. The function is passed as an argument, so that this room does no I/O. */
export type ReadFile = (path: string) => Promise<string>;

type SecretSource = { readonly file: string } | { readonly environment: string };

/** How a secret is sent: as a header value, or in the body of a form. */
export type SecretForm = 'header' | 'form';

/** A value that prints as `<secret>`. Only `reveal` returns the value. */
export class Secret {
  readonly #value: string;
  readonly #source: SecretSource;
  readonly #reread: () => Promise<Secret>;

  constructor(value: string, source: SecretSource, reread?: () => Promise<Secret>) {
    this.#value = value;
    this.#source = source;
    this.#reread = reread ?? (async () => this);
  }

  reveal(): string {
    return this.#value;
  }

  get source(): SecretSource {
    return this.#source;
  }

  /** Reads the secret again, because credentials may change. Rejects with a `SecretError`, which never contains the value. */
  reread(): Promise<Secret> {
    return this.#reread();
  }

  toString(): string {
    return '<secret>';
  }

  toJSON(): string {
    return '<secret>';
  }

  [Symbol.toPrimitive](): string {
    return '<secret>';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '<secret>';
  }
}

/** A secret that cannot be used. The message explains why, without the value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Reads a secret from a file, without the newline at its end. */
export async function readSecretFile(path: string, readFile: ReadFile, form: SecretForm = 'header'): Promise<Secret> {
  let text: string;
  try {
    text = await readFile(path);
  } catch (error) {
    throw new SecretError(`${describePath(path)} ${describeReadError(error)}`, { cause: error });
  }
  const value = text.replace(/(\r?\n)+$/, '');
  const problem = findSecretProblem(value, form);
  if (problem !== undefined) throw new SecretError(`${describePath(path)} ${problem}`);
  return new Secret(value, { file: path }, () => readSecretFile(path, readFile, form));
}

/** Reads a secret from the environment, where it cannot change while the process runs. */
export function toEnvironmentSecret(value: string, environment: string, form: SecretForm = 'header'): Secret {
  const problem = findSecretProblem(value, form);
  if (problem !== undefined) throw new SecretError(`${environment} ${problem}`);
  return new Secret(value, { environment });
}

// A secret that cannot be sent is refused here, before its requests fail.
function findSecretProblem(value: string, form: SecretForm): string | undefined {
  if (value.trim() === '') return 'is empty';
  if (value.length > 8192) return 'contains more than 8192 characters';
  if (/[\r\n]/.test(value)) return 'contains more than one line';
  if (form === 'form') return /\p{Cc}/u.test(value) ? 'contains a control character' : undefined;
  if (!/^[\x20-\x7e]*$/.test(value)) return 'contains a character that is not allowed in a header';
  if (value !== value.trim()) return 'begins or ends with a space';
  return undefined;
}

/** Replaces every secret in the text by a mark, in its plain, URL-encoded, JSON and base64 forms. */
export function scrub(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(toSecretForms).filter((form) => form.length >= minFormLength);
  forms.sort((one, other) => other.length - one.length);
  let scrubbed = text;
  for (const form of forms) scrubbed = scrubbed.replaceAll(form, '<secret>');
  return scrubbed;
}

/** The minimum length of the forms that are removed, because shorter forms would remove ordinary words. */
const minFormLength = 4;

/** Returns a secret in plain, URL-encoded, JSON, hexadecimal and base64 forms. */
export function toSecretForms(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  return [
    ...toJsonForms(secret),
    toCautiousJson(secret),
    toCautiousJson(secret).replaceAll('/', '\\/'),
    encoded,
    encoded.replaceAll('%20', '+'),
    encoded.toLowerCase(),
    Buffer.from(secret).toString('hex'),
    ...toBase64Forms(secret),
  ];
}

/** Returns the plain text, and the text escaped as JSON one to four times, because a log line may quote quoted text. */
function toJsonForms(secret: string): string[] {
  const forms = [secret];
  for (let depth = 0; depth < 4; depth++) forms.push(JSON.stringify(forms.at(-1)).slice(1, -1));
  return forms;
}

/** Returns JSON with all characters escaped that are special in HTML. */
function toCautiousJson(secret: string): string {
  return JSON.stringify(secret)
    .slice(1, -1)
    .replaceAll(/[<>&'+=]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the three forms that a secret can have within base64 of a longer text, without characters that depend on other text. */
function toBase64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const end = (shift + bytes.length) % 3 === 0 ? encoded.length : encoded.length - 1;
    const own = encoded.slice(Math.ceil((shift * 4) / 3), end);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
