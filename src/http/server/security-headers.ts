import type { RequestHandler, Response } from 'express';

/** Sets the headers that tell browsers: no scripts, nothing from elsewhere, no forms. */
export const setSecurityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': toPolicy("'none'"),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  next();
};

/** For a page with forms. A browser that may not say where a request comes from would hide the origin of its forms as well. */
export function allowForms(response: Response): void {
  response.set({ 'content-security-policy': toPolicy("'self'"), 'referrer-policy': 'same-origin' });
}

function toPolicy(formAction: string): string {
  return `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;
}
