import type { Endpoint } from '../endpoint.ts';
import { ApiError, type ApiErrorDetails, type ErrorKind } from '../errors.ts';
import { readRetryAfterMs } from '../retry.ts';
import type { TransportAnswer } from '../wire/transport.ts';
import { minBytesOfContainer } from './json-pieces.ts';

export type AnswerContext = {
  /** True for a session. If it has no access to the API, another part of the server responds, for example with 404 (rundeck dialect). */
  readonly isSession: boolean;
  readonly nowMs: number;
  /** The forms of secrets to remove from responses. Very short forms are omitted, because they may be ordinary words. */
  readonly secretForms?: readonly string[] | undefined;
  /** Called with the number of texts that were cut because of their length. */
  readonly onCut?: ((texts: number) => void) | undefined;
};

/** Returns the content of a response. Throws an `ApiError` with the reason if the response has no valid content. */
export function readAnswer<Answer>(
  endpoint: Endpoint<Answer>,
  answer: TransportAnswer,
  context: AnswerContext,
  parsedJson?: unknown,
): Answer {
  const { status, headers } = answer;
  const body = scrubForms(answer.body, context.secretForms);
  const isTooDense = isDense(body);
  const json =
    parsedJson ??
    (isTooDense ? undefined : toShort(parseJson(status < 400 ? body : toFirst(body)), body, endpoint, context));
  const details = { apiEndpoint: endpoint.name, status, ...errorFields(json ?? fromXml(body)) };
  const fail = ([kind, says]: Refusal): ApiError => {
    const retryAfterMs = readRetryAfterMs(headers['retry-after'], context.nowMs);
    const asked = status === 429 || status === 503 ? retryAfterMs : undefined;
    return new ApiError(`GET ${endpoint.name}: HTTP ${status}, ${says}`, {
      kind,
      ...details,
      ...(asked === undefined ? {} : { retryAfterMs: asked }),
    });
  };

  if (isTooDense) throw fail(['too_large', 'more values than any valid answer']);
  const isRedirect = status >= 300 && status < 400;
  if (isRedirect && isLoginPath(headers['location'] ?? '')) throw fail(toLoginRefusal(context));
  if (isRedirect) throw fail(['redirect', 'a redirect, which is never followed; check the URL']);
  if (isLoginPage(answer)) throw fail(toLoginRefusal(context));
  if (status !== 200 && !endpoint.alsoAnswers.includes(status)) throw fail(toRefusal(endpoint, details, context));
  const parsed = endpoint.body.safeParse(json === undefined && endpoint.mayBeText ? body : json);
  if (parsed.success) return parsed.data;
  if (status !== 200) throw fail(toRefusal(endpoint, details, context));
  if (body.trim() === '') throw fail(['empty', 'no body, as for a session without access to the API']);
  if (isHtml(answer)) throw fail(['html', 'an HTML page instead of JSON; is this the server or a proxy?']);
  if (json === undefined && !endpoint.mayBeText) throw fail(['decode', 'the body is not JSON']);
  const places = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `\`${path.join('.') || 'body'}\`: ${message}`);
  throw fail(['decode', `not the expected answer: ${places.join('; ')}`]);
}

/** Reports whether a redirect leads to a login page, or to the page after a failed login (API reference, "Authentication"). */
export function isLoginPath(location: string): boolean {
  return /\/user\/(login|error)([?#;]|$)/.test(location);
}

export function isLoginPage(answer: TransportAnswer): boolean {
  return isHtml(answer) && /j_security_check|name=["']?j_username/.test(answer.body);
}

type Refusal = readonly [kind: ErrorKind, says: string];

/** Returns the reason for a login page. The API never answers a token with a login page. */
function toLoginRefusal({ isSession }: AnswerContext): Refusal {
  return [
    'unauthorized',
    isSession
      ? 'a login page: the credentials are missing or refused'
      : 'a login page instead of the API: correct the path of the URL, or check whether a proxy removes the token',
  ];
}

function toRefusal(
  endpoint: Endpoint<unknown>,
  details: Omit<ApiErrorDetails, 'kind'>,
  { isSession }: AnswerContext,
): Refusal {
  const { status = 0, errorCode, isOfService } = details;
  if (status === 503 && endpoint.alsoAnswers.includes(503) && errorCode !== undefined) {
    return ['passive', 'the server refuses because of its execution mode'];
  }
  if (status === 400 && isVersionCode(errorCode)) return ['unsupported_version', 'the API version is not supported'];
  if (status === 401 || status === 403) {
    if (errorCode === 'unauthorized') return ['unauthorized', 'the credentials are missing, wrong or expired'];
    return [
      'forbidden',
      isOfService ? 'these credentials cannot read it' : 'refused by a proxy or firewall in front of the server',
    ];
  }
  if (status === 404) {
    if (isSession && isOfService !== true) return ['unauthorized', 'this session has no access to the API'];
    if (isOfService !== true) return ['not_found', 'the API is not there; is the path of the URL right?'];
    return ['not_found', 'not found, or switched off'];
  }
  if (status === 429) return ['busy', 'too many requests'];
  if (status >= 500) return ['server', 'the server failed'];
  return ['rejected', 'the request was rejected'];
}

function isVersionCode(errorCode: string | undefined): boolean {
  return errorCode === 'api.error.api-version.unsupported' || errorCode === 'api-version-unsupported';
}

type ErrorFields = Pick<ApiErrorDetails, 'errorCode' | 'serverApiVersion' | 'isOfService'>;

/**
 * Reads the fields of an error. `error` is `true` in responses of the API, and text if the request did not reach the
 * API. Responses with `enable` (metrics of release 6) or `completed` (logs) are no errors.
 */
function errorFields(json: unknown): ErrorFields {
  if (typeof json !== 'object' || json === null) return {};
  const { error, enable, completed, errorCode, apiversion } = json as Readonly<Record<string, unknown>>;
  const version = typeof apiversion === 'number' || typeof apiversion === 'string' ? Number(apiversion) : Number.NaN;
  return {
    isOfService:
      error === true ||
      error === 'true' ||
      typeof errorCode === 'string' ||
      enable !== undefined ||
      completed === false,
    ...(typeof errorCode === 'string' ? { errorCode } : {}),
    ...(Number.isInteger(version) && version > 0 ? { serverApiVersion: version } : {}),
  };
}

/** Reads an error in XML. Releases 3 of the rundeck dialect return some errors as XML even if JSON was requested. */
function fromXml(body: string): unknown {
  const [result] = /^\s*(?:<\?xml[^>]*>\s*)?<result\b[^>]*>\s*<error\b[^>]*>/.exec(body.slice(0, 1000)) ?? [];
  if (result === undefined || !/<result\b[^>]*\berror=["']true["']/.test(result)) return undefined;
  const [, apiversion] = /<result\b[^>]*\bapiversion=["'](\d+)["']/.exec(result) ?? [];
  const [, errorCode] = /<error\b[^>]*\bcode=["']([\w.-]+)["']/.exec(result) ?? [];
  return { error: true, apiversion, errorCode };
}

function isHtml({ headers, body }: TransportAnswer): boolean {
  return /^text\/html/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype|html)/i.test(body);
}

/** Parses a body, and cuts long texts in it. */
export function toShort(
  json: unknown,
  source: string,
  { keepsLongTexts }: Pick<Endpoint<unknown>, 'keepsLongTexts'>,
  { onCut }: Pick<AnswerContext, 'onCut'>,
): unknown {
  if (keepsLongTexts) return json;
  const { value, cut } = cutTexts(json, source);
  if (cut > 0) onCut?.(cut);
  return value;
}

/** Reports whether a body has too many values: a million empty lists need seconds and gigabytes, and are never valid. */
function isDense(body: string): boolean {
  const most = Math.max(fewValues, body.length / minBytesOfContainer);
  let values = 0;
  for (const opening of '{[') {
    for (let at = body.indexOf(opening); at !== -1; at = body.indexOf(opening, at + 1)) {
      // A bracket after a character that is not listed here is usually part of a text.
      if (at === 0 || '[{,: \n\r\t\uFEFF'.includes(body.charAt(at - 1))) values += 1;
      if (values > most) return true;
    }
  }
  return false;
}

const fewValues = 2000;

/** Removes secrets from a body. A server may repeat a secret in a name, and names are published. */
export function scrubForms(body: string, forms: readonly string[] = []): string {
  let scrubbed = body;
  for (const form of forms) if (scrubbed.includes(form)) scrubbed = scrubbed.replaceAll(form, '<secret>');
  return scrubbed;
}

/** Returns the first error of a body. A body has several errors if several projects are refused together. */
function toFirst(body: string): string {
  const end = body.indexOf('}{');
  return end < 0 ? body : body.slice(0, end + 1);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** The maximum length of a text: longer than any name or word of the API. Longer texts are cut. */
const maxTextLength = 1024;

/** Cuts each long text of a parsed value, including member names; first checks the source, which usually has none. */
export function cutTexts(value: unknown, source: string): { value: unknown; cut: number } {
  if (!mayHoldLongText(source)) return { value, cut: 0 };
  if (typeof value === 'string')
    return value.length > maxTextLength ? { value: cutText(value), cut: 1 } : { value, cut: 0 };
  let cut = 0;
  // A loop instead of recursion, because a server may nest lists to any depth.
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    // This cast is safe: a list can be read by its indexes.
    const members = next as Record<string, unknown>;
    for (const [key, member] of Object.entries(members)) {
      const isLong = typeof member === 'string' && member.length > maxTextLength;
      if (isLong) members[key] = cutText(member);
      else open.push(member);
      if (key.length > maxTextLength) {
        members[cutText(key)] = members[key];
        Reflect.deleteProperty(members, key);
      }
      cut += Number(isLong) + Number(key.length > maxTextLength);
    }
  }
  return { value, cut };
}

/** Returns the start of a text and a mark. Half of a surrogate pair at the end could not be encoded. */
function cutText(text: string): string {
  return `${text.slice(0, maxTextLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Reports whether two quotes are far enough apart for a long text. An escaped quote would make a text look shorter. */
function mayHoldLongText(source: string): boolean {
  if (source.length <= maxTextLength) return false;
  if (source.includes('\\"')) return true;
  let last = 0;
  for (let at = source.indexOf('"'); at !== -1; at = source.indexOf('"', at + 1)) {
    if (at - last > maxTextLength) return true;
    last = at;
  }
  return source.length - last > maxTextLength;
}
