import type { RequestHandler, Response } from 'express';

/** Sets headers for browsers: no scripts, no foreign content, no forms. Configured headers replace these headers. */
export function createSecurityHeaders(configured: () => ReadonlyMap<string, string> = () => none): RequestHandler {
  return (_request, response, next) => {
    const own = configured();
    response.locals['hasOwnPolicy'] = own.has('Content-Security-Policy');
    response.set({
      'content-security-policy': toPolicy("'none'"),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    for (const [name, value] of own) response.set(name, value);
    next();
  };
}

const none: ReadonlyMap<string, string> = new Map();

/** Permits forms on a page. Without a referrer, browsers would also hide the origin of forms. */
export function allowForms(response: Response): void {
  response.set({ 'referrer-policy': 'same-origin' });
  // A configured policy stays unchanged.
  if (response.locals['hasOwnPolicy'] !== true) response.set({ 'content-security-policy': toPolicy("'self'") });
}

function toPolicy(formAction: string): string {
  return `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;
}
