import type { Request } from 'express';

/** The address under which somebody asked, below the same path as ours; undefined if the Host header is not one. */
export function toAskedUrl(
  { protocol, headers }: Pick<Request, 'protocol' | 'headers'>,
  ownUrl: string,
): string | undefined {
  const { host } = headers;
  if (host === undefined || !/^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host)) return undefined;
  return `${protocol}://${host}${new URL(ownUrl).pathname}`;
}
