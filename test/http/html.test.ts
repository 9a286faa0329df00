import { describe, expect, it } from 'vitest';
import { escapeHtml, html } from '../../src/http/pages/html.ts';
import { fc } from '../support/property.ts';

describe('http/html', () => {
  it('escapes every value', () => {
    expect(html`<b title="${`"'`}">${'<i>&`'}</b>`.text).toBe('<b title="&#34;&#39;">&#60;i&#62;&#38;&#96;</b>');
  });

  it('keeps HTML unchanged', () => {
    const items = ['a<', 'b'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${html`<hr>`}${3}${undefined}`.text).toBe('<ul><li>a&#60;</li><li>b</li></ul><hr>3');
  });

  it('lets no text open a tag, end an attribute or begin an entity', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeHtml(text);
        expect(escaped).not.toMatch(/[<>"'`]|&(?!#\d+;)/);
        expect(escaped.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))).toBe(text);
      }),
    );
  });
});
