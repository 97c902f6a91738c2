/** The panels of the tab: one line each. */

import { registry } from '../base/registry';
import { TEXTS } from '../base/texts';
import { EmptyPanel } from './empty';
import { GraphPanel } from './graph';
import { HelpPanel } from './help';
import { InspectorPanel } from './inspector';
import { LayersPanel } from './layers';
import { MemoryPanel } from './memory';
import { OutlinePanel } from './outline';
import type { Panel } from './panel';
import { ProblemBanner, ProblemCard } from './problems';
import { ToolbarPanel } from './toolbar';

export const PANELS: readonly Panel[] = registry<Panel>([
  { id: 'toolbar', slot: 'toolbar', title: TEXTS.shapes, component: ToolbarPanel },
  { id: 'banner', slot: 'banner', title: TEXTS.problem, component: ProblemBanner },
  { id: 'card', slot: 'card', title: TEXTS.problem, component: ProblemCard },
  { id: 'outline', slot: 'outline', title: TEXTS.outline, component: OutlinePanel },
  { id: 'graph', slot: 'graph', title: TEXTS.graph, component: GraphPanel },
  { id: 'inspector', slot: 'inspector', title: TEXTS.inspector, component: InspectorPanel },
  { id: 'layers', slot: 'table', title: TEXTS.layers, component: LayersPanel },
  { id: 'memory', slot: 'memory', title: TEXTS.memory, component: MemoryPanel },
  { id: 'empty', slot: 'empty', title: TEXTS.shapes, component: EmptyPanel },
  { id: 'help', slot: 'sheet', title: TEXTS.helpTitle, component: HelpPanel },
]);
