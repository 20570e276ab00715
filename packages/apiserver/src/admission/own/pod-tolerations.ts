/** How long pods stay on nodes that are in trouble. */
import type { AdmissionAttributes } from '../../contracts/admission.js';
import { itemsOf, mappingAt } from '../../kinds/defaults/setting.js';

const TROUBLES = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const SECONDS = 300;

/** Five minutes, unless they say how long. */
export function setTolerations({ object }: AdmissionAttributes): void {
  if (object === undefined) return;
  const spec = mappingAt(object, 'spec');
  const given = itemsOf(spec, 'tolerations');
  const isMissing = (key: string): boolean =>
    !given.some(
      (one) =>
        (one.key === key || one.key === undefined || one.key === '') &&
        (one.effect === 'NoExecute' || one.effect === undefined || one.effect === ''),
    );
  const added = TROUBLES.filter(isMissing).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: SECONDS,
  }));
  if (added.length > 0) spec.tolerations = [...given, ...added];
}
