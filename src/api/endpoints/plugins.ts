import { z } from 'zod';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { flag, text } from '../lenient.ts';

type InstalledPlugin = { readonly service: string; readonly name: string; readonly version: string };

const plugin = z.object({ service: z.string(), name: z.string(), builtin: flag, pluginVersion: text });

/** API reference, "List plugins": plugins from files. Releases before 3.2 return 404. */
export const pluginList = defineEndpoint({
  name: 'plugin-list',
  path: 'plugin/list',
  maxBytes: largeListBytes,
  since: 33,
  allowedBy: [],
  body: z.array(z.unknown()).transform((items) =>
    items.flatMap((item): readonly InstalledPlugin[] => {
      const { data } = plugin.safeParse(item);
      if (data === undefined || data.builtin === true) return [];
      return [{ service: data.service, name: data.name, version: data.pluginVersion ?? '' }];
    }),
  ),
});
