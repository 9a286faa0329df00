/** A secret as it is, and in URL-encoded, JSON, hexadecimal and base64 forms. */
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

/** As it is, and as text within JSON within JSON: a log line quotes what already was quoted. */
function toJsonForms(secret: string): string[] {
  const forms = [secret];
  for (let depth = 0; depth < 4; depth++) forms.push(JSON.stringify(forms.at(-1)).slice(1, -1));
  return forms;
}

/** Some servers escape in JSON whatever could mean something in a page. */
function toCautiousJson(secret: string): string {
  return JSON.stringify(secret)
    .slice(1, -1)
    .replaceAll(/[<>&'+=]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Base64 of a text that holds the secret shows it in one of three ways, by its place; ends that depend on the neighbours are cut. */
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
