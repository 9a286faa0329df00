import { gzipSync } from 'node:zlib';

type Echo = (token: string) => string | Buffer;

/** The ways in which a server may return a credential that it received, by the first segment of the path. */
export const echoes: Readonly<Record<string, Echo>> = {
  refusal: (token) =>
    answer(
      403,
      'application/json',
      JSON.stringify({
        error: true,
        apiversion: 47,
        errorCode: 'unauthorized',
        message: `(Token:${token.slice(0, 6)}****) ${token} is not authorized`,
      }),
    ),
  denial: (token) =>
    answer(
      403,
      'application/json',
      JSON.stringify({
        error: true,
        apiversion: 47,
        errorCode: `api.error.item.unauthorized ${token}`,
        message: token,
      }),
    ),
  missing: (token) =>
    answer(
      404,
      'application/json',
      JSON.stringify({ errorCode: token, message: `No ${encodeURIComponent(token)} here` }),
    ),
  busy: (token) => answer(429, 'text/plain', token, `Retry-After: ${token}\r\nX-Token: ${token}`),
  broken: (token) =>
    answer(500, 'text/html', `<html><h1>${token}</h1><pre>at ${Buffer.from(token).toString('base64')}</pre></html>`),
  phrase: (token) => `HTTP/1.1 503 ${token}\r\nContent-Length: 0\r\n\r\n`,
  login: (token) => answer(302, 'text/html', token, `Location: /user/login?token=${encodeURIComponent(token)}`),
  elsewhere: (token) =>
    answer(302, 'text/html', token, `Location: http://127.0.0.1:9/${encodeURIComponent(token)}#${token}`),
  page: (token) => answer(200, 'text/html', `<!doctype html><title>${token}</title>`),
  garbage: (token) => answer(200, 'application/json', `{"token": "${token}" oops`),
  shape: (token) =>
    answer(
      200,
      'application/json',
      JSON.stringify({ [token]: token, system: token, executionMode: [token], checks: { [token]: token } }),
    ),
  compressed: (token) =>
    Buffer.concat([
      Buffer.from(
        answer(200, 'application/json', '', 'Content-Encoding: gzip').replace(
          'Content-Length: 0\r\n',
          'Connection: close\r\n',
        ),
      ),
      gzipSync(token).subarray(0, 20),
      Buffer.from(token),
    ]),
  welcome: (token) =>
    answer(200, 'application/json', '{"executionMode":"active"}', `Set-Cookie: JSESSIONID=${token}; Path=/`),
  headers: (token) => `HTTP/1.1 200 OK\r\n${token}: ${token}\r\n${token}\r\n\r\n`,
  nonsense: (token) => `${token}\r\n\r\n${token}`,
};

export function answer(status: number, type: string, body: string, more = 'X-More: none'): string {
  return `HTTP/1.1 ${status} Echo\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n\r\n${body}`;
}
