import type { Endpoint } from './endpoint.ts';
import { ApiError, type ErrorKind } from './errors.ts';
import type { TransportAnswer } from './transport.ts';

/** The answer's content, or the error of the closed list that says why it has none. */
export function readAnswer<Answer>(endpoint: Endpoint<Answer>, answer: TransportAnswer): Answer {
  const { status, headers, body } = answer;
  const json = parseJson(body);
  const details = { apiEndpoint: endpoint.name, status, ...errorFields(json) };
  const fail = (kind: ErrorKind, says: string): ApiError =>
    new ApiError(`GET ${endpoint.name}: HTTP ${status}, ${says}`, { kind, ...details });

  if (isLogin(status, headers, body))
    throw fail('unauthorized', 'a login page: the credentials are missing or refused');
  if (status >= 300 && status < 400) throw fail('redirect', 'a redirect, which is never followed; check the URL');

  const isAnswer = status === 200 || endpoint.alsoAnswers.includes(status);
  if (!isAnswer) throw fail(...errorOf(endpoint, status, details.errorCode));
  const parsed = endpoint.body.safeParse(json);
  if (parsed.success) return parsed.data;
  if (status !== 200) throw fail(...errorOf(endpoint, status, details.errorCode));
  if (body.trim() === '') throw fail('empty', 'no body; a session without API access gets such answers');
  if (isHtml(headers, body)) throw fail('html', 'an HTML page instead of JSON; is this the service or a proxy?');
  if (json === undefined) throw fail('decode', 'the body is no JSON');
  const places = parsed.error.issues
    .slice(0, 3)
    .map((issue) => `\`${issue.path.join('.') || 'body'}\`: ${issue.message}`);
  throw fail('decode', `not the expected answer: ${places.join('; ')}`);
}

function errorOf(
  endpoint: Endpoint<unknown>,
  status: number,
  errorCode: string | undefined,
): [kind: ErrorKind, says: string] {
  if (status === 503 && endpoint.alsoAnswers.includes(503) && errorCode !== undefined) {
    return ['passive', 'the service refuses because of its execution mode'];
  }
  if (status === 400 && isVersionCode(errorCode)) return ['unsupported_version', 'the API version is not supported'];
  if (status === 401 || status === 403) {
    if (errorCode === 'unauthorized') return ['unauthorized', 'the credentials are missing, wrong or expired'];
    return ['forbidden', 'these credentials may not read it'];
  }
  if (status === 404) return ['not_found', 'not there, or switched off'];
  if (status === 429) return ['busy', 'too many requests'];
  if (status >= 500) return ['server', 'the server failed'];
  return ['rejected', 'the request was rejected'];
}

function isVersionCode(errorCode: string | undefined): boolean {
  return errorCode === 'api.error.api-version.unsupported' || errorCode === 'api-version-unsupported';
}

function errorFields(json: unknown): { errorCode?: string; serverApiVersion?: number } {
  if (typeof json !== 'object' || json === null) return {};
  const { errorCode, apiversion } = json as Readonly<Record<string, unknown>>;
  const version = Number(apiversion);
  return {
    ...(typeof errorCode === 'string' ? { errorCode } : {}),
    ...(apiversion !== undefined && Number.isInteger(version) && version > 0 ? { serverApiVersion: version } : {}),
  };
}

/** The login page, or a redirect to it or to its error page (Document A, section 5). */
function isLogin(status: number, headers: Readonly<Record<string, string>>, body: string): boolean {
  if (status >= 300 && status < 400) return /\/user\/(login|error)([?#;]|$)/.test(headers.location ?? '');
  return isHtml(headers, body) && /j_security_check|name=["']?j_username/.test(body);
}

function isHtml(headers: Readonly<Record<string, string>>, body: string): boolean {
  return /^text\/html/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype|html)/i.test(body);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
