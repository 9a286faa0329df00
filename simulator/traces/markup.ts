/** Text that is HTML; whatever else is put into a page is escaped. */
export type Markup = { readonly markup: string };

/** A template of HTML: texts in it are escaped, markup and lists of it stay as they are, undefined is nothing. */
export function page(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | undefined | Markup | readonly Markup[])[]
): Markup {
  const shown = values.map((value) => {
    if (value === undefined) return '';
    if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
    return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
  });
  return { markup: String.raw({ raw: texts }, ...shown) };
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}
