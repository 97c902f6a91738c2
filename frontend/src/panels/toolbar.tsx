/** The quiet strip on top: which model of which run, how many problems, a link to this view, the keys. */

import type { VNode } from 'preact';
import { countText } from '../base/format';
import { TEXTS } from '../base/texts';
import { pickedName } from '../model/case_sets';
import { problemsOf } from '../model/findings';
import { copyLink, goToProblem, openModel, showScreen, toggleHelp, toggleOutline } from '../state/actions';
import * as app from '../state/app_state';
import type { ModelEntry } from '../model/listing';
import { findVersion, loggedModels, type Logged, type Version } from '../state/versions';
import { Icon } from '../widgets/icon';
import { Menu, type Choice } from '../widgets/menu';
import { Segmented } from '../widgets/segmented';
import { CasePicker } from './toolbar/case_picker';

export function ToolbarPanel(): VNode {
  const models = loggedModels(app.models.value ?? []);
  return (
    <header class="toolbar">
      <h1 class="for-readers">{TEXTS.shapes}</h1>
      {app.record.value && app.screen.value === 'graph' && (
        <button
          type="button"
          class="icon-button drawer-only"
          aria-expanded={app.outlineShown.value}
          aria-label={TEXTS.showOutline}
          onClick={toggleOutline}
        >
          <Icon name="list" size={16} />
        </button>
      )}
      {models.length ? <Pickers models={models} /> : <span class="muted">{app.models.value ? TEXTS.noModel : ''}</span>}
      <CasePicker />
      {app.record.value && (
        <Segmented
          label={TEXTS.screens}
          choices={[
            { key: 'graph', title: TEXTS.graph },
            { key: 'memory', title: TEXTS.memory },
          ]}
          chosen={app.screen.value}
          choose={(key) => showScreen(key === 'memory' ? 'memory' : 'graph')}
        />
      )}
      <span class="spring" />
      <span class="notice" role="status">
        {app.notice.value}
      </span>
      {app.record.value && <Counts />}
      {app.record.value && (
        <button type="button" class="icon-button" onClick={copyLink} aria-label={TEXTS.copyLink} data-tip={TEXTS.copyLink}>
          <Icon name="link" size={16} />
        </button>
      )}
      <button type="button" class="icon-button" onClick={toggleHelp} aria-label={TEXTS.help} data-tip={TEXTS.help}>
        <Icon name="help" size={16} />
      </button>
    </header>
  );
}

const runName = (run: string): string => run || '.';
const keyOf = (version: Version): string => `${version.entry.run}\n${version.entry.tag}\n${version.step}`;

function Pickers({ models }: { readonly models: readonly Logged[] }): VNode {
  const current = app.current.value;
  const found = findVersion(models, current);
  const versions = found?.model.versions ?? [];
  const newest = (model: Logged): string => model.versions.slice(-1).map(keyOf).join('');
  const choose = (key: string): void => {
    const chosen = models.flatMap((model) => model.versions).find((version) => keyOf(version) === key);
    if (chosen) openModel(chosen.entry.run, chosen.entry.tag, chosen.step);
  };
  const face = (
    <>
      <b>{found?.model.name ?? ''}</b>
      <span class="muted">
        {runName(current?.run ?? '')}
        {versions.length < 2 && current && `, ${TEXTS.step(current.step)}`}
      </span>
    </>
  );
  const choices: readonly Choice[] = models.map((model) => ({
    key: newest(model),
    group: runName(model.run),
    content: <Entry model={model.versions.at(-1)?.entry ?? null} />,
  }));
  return (
    <>
      <Menu label={TEXTS.pickModel} face={face} choices={choices} chosen={found ? newest(found.model) : ''} choose={choose} />
      {versions.length > 1 && found && (
        <Menu
          label={TEXTS.pickStep}
          face={<StepText version={found.version} />}
          choices={versions.map((version) => ({ key: keyOf(version), group: '', content: <StepText version={version} /> }))}
          chosen={keyOf(found.version)}
          choose={choose}
        />
      )}
    </>
  );
}

function StepText({ version }: { readonly version: Version }): VNode {
  return (
    <span>
      {TEXTS.step(version.step)} {version.mark && <span class="mono muted">{version.mark}</span>}
    </span>
  );
}

function Entry({ model }: { readonly model: ModelEntry | null }): VNode | null {
  if (!model) return null;
  return (
    <span class="entry">
      <b>{model.name}</b>
      <span class="muted">{model.params === null ? '' : `${countText(model.params)} ${TEXTS.parameters}`}</span>
      <span class="spring" />
      {model.problem !== null && (
        <span class="tone-error">
          <Icon name="error" /> {TEXTS.cannotBeRead}
        </span>
      )}
      {!!model.errors && (
        <span class="tone-error">
          <Icon name="error" /> {TEXTS.errors(model.errors)}
        </span>
      )}
      {!!model.warnings && (
        <span class="tone-warn">
          <Icon name="warn" /> {TEXTS.warnings(model.warnings)}
        </span>
      )}
    </span>
  );
}

function Counts(): VNode | null {
  const record = app.record.value;
  if (!record) return null;
  const problems = problemsOf(record);
  const count = (severity: 'error' | 'warning'): number => problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const name = pickedName(record);
  const go = (severity: 'error' | 'warning'): void => goToProblem(problems.findIndex((problem) => problem.severity === severity));
  if (errors + warnings === 0 && !record.completed)
    return (
      <span class="count tone-error">
        <Icon name="error" size={14} /> {TEXTS.stopped}
      </span>
    );
  if (errors + warnings === 0)
    return (
      <span class="count tone-ok">
        <Icon name="ok" size={14} /> {name ? TEXTS.noProblemsIn(name) : TEXTS.noProblems}
      </span>
    );
  return (
    <>
      {errors > 0 && (
        <button type="button" class="count tone-error" onClick={() => go('error')}>
          <Icon name="error" size={14} /> {TEXTS.errors(errors)}
        </button>
      )}
      {warnings > 0 && (
        <button type="button" class="count tone-warn" onClick={() => go('warning')}>
          <Icon name="warn" size={14} /> {TEXTS.warnings(warnings)}
        </button>
      )}
    </>
  );
}
