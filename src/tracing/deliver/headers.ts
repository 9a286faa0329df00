import type { Complaint } from '../../domain/complaint.ts';
import { Secret } from '../../domain/secret.ts';

/** A header of every request; names are in lower case, values never shown. */
export type SentHeader = { readonly name: string; readonly value: Secret };

/**
 * Reads `key1=value1,key2=value2` with percent-encoded values, as W3C Baggage writes them. Complaints name a header only by
 * its position in the list: the parts of an unreadable one may be a secret.
 */
export function parseHeaders(text: string, place: string): readonly SentHeader[] | Complaint {
  const headers = new Map<string, SentHeader>();
  for (const [index, entry] of text.split(',').entries()) {
    if (entry.trim() === '') continue;
    const complain = (what: string): Complaint => ({ place, message: `entry ${index + 1} ${what}`, hint: wanted });
    const equals = entry.indexOf('=');
    if (equals === -1) return complain('has no =');
    const name = entry.slice(0, equals).trim().toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return complain('has a name that is not a valid header name');
    if (ours.includes(name)) return complain(`sets ${name}, which is the exporter's own`);
    const value = decode(entry.slice(equals + 1).trim());
    if (value === undefined) return complain('has a % that is not followed by two hexadecimal digits');
    if (!/^[\x20-\x7e]+$/.test(value)) return complain('has a value with a character that is not allowed in a header');
    headers.set(name, { name, value: new Secret(value, { environment: place }) });
  }
  return [...headers.values()];
}

const wanted = 'write name=value,name=value, with commas and spaces of values as %2C and %20';

const ours = ['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'connection', 'host'];

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
