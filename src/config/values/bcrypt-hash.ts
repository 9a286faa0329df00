/** A hash of a password, as `htpasswd -B` and others write it. */
export type BcryptHash = { readonly cost: number; readonly salt: Uint8Array; readonly digest: Uint8Array };

/** Reads `$2y$10$…`, also `$2a$` and `$2b$`; undefined for anything else. */
export function parseBcryptHash(text: string): BcryptHash | undefined {
  const [, digits = '', salt = '', digest = ''] = form.exec(text) ?? [];
  const cost = Number(digits);
  if (salt === '' || cost < 4 || cost > 31) return undefined;
  return { cost, salt: decode(salt), digest: decode(digest) };
}

const form = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Six bits a letter; the rest of the last byte has no meaning. */
function decode(text: string): Uint8Array {
  const bits = Array.from(text, (letter) => alphabet.indexOf(letter).toString(2).padStart(6, '0')).join('');
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  );
}
