/** The fields of a dashboard that the tests use. */
interface DashboardShape {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly annotations: { readonly list: readonly { readonly name: string }[] };
  readonly links: readonly { readonly type: string; readonly url?: string; readonly tags: readonly string[] }[];
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly collapsed?: boolean;
  readonly targets?: readonly { readonly expr: string }[];
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly links?: readonly { readonly url: string }[] };
    readonly overrides: readonly {
      readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
    }[];
  };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly panels?: readonly Panel[];
}

export function readDashboard(json: string): DashboardShape {
  // The type has only the fields that the tests use. If a dashboard lacks a field, the test that reads it fails.
  return JSON.parse(json) as DashboardShape;
}

/** Every row and panel, also the panels of rows that are collapsed. */
export function listPanels({ panels }: DashboardShape): Panel[] {
  return panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
}
