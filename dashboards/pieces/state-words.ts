import type { ValueMap, ValueMappingResult } from '@grafana/grafana-foundation-sdk/dashboard';
import { MappingType } from '@grafana/grafana-foundation-sdk/dashboard';

type Tone = 'good' | 'bad' | 'notable';

/** The word and the tone of each value; the word has the meaning, and the colour only emphasizes it. */
export type StateWords = Readonly<Record<number, readonly [word: string, tone: Tone]>>;

/** Colours that also differ in lightness, for readers who cannot distinguish red from green. */
export const toneColors: Readonly<Record<Tone, string>> = {
  good: 'semi-dark-green',
  bad: 'dark-red',
  notable: 'light-orange',
};

export function toValueMappings(words: StateWords): ValueMap[] {
  const options: Record<string, ValueMappingResult> = {};
  for (const [index, [value, [text, tone]]] of Object.entries(words).entries()) {
    options[value] = { text, color: toneColors[tone], index };
  }
  return [{ type: MappingType.ValueToText, options }];
}
