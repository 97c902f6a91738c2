/** Leaves of inputs and outputs off the wire. */

import type { Endpoint } from '../model/record';
import { checkedColumn } from './columns';
import type { Endpoint as Message } from './gen/shapes/v1/record_pb';

/** The endpoints; RecordError where one names a tensor beyond the table. */
export function endpointsOf(what: string, from: readonly Message[], tensors: number): readonly Endpoint[] {
  return from.map(({ name, tensor, literal }) => {
    const [id = -1] = checkedColumn(what, [tensor - 1], tensors, -1);
    return { name, tensor: id, literal };
  });
}
