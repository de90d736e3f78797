// Tables whose rows can be sorted by their headings, and filtered.

import { button, element } from "./element.js";
import { type Direction, isOfNumbers, type Key, ordered } from "./order.js";
import { matches } from "./search.js";

/** The order that a reader chose for a table: its column and direction. */
interface Order {
  readonly column: number;
  readonly direction: Direction;
}

/** What readers chose, by the id of a table's part: it outlives the table, which a live page replaces. */
export class Choices {
  readonly orders = new Map<string, Order>();
  readonly searches = new Map<string, string>();
}

export class Sheet {
  readonly #table: HTMLTableElement;
  readonly #key: string;
  readonly #choices: Choices;
  readonly #rows: readonly HTMLTableRowElement[];
  readonly #count = element("output");

  /** Adds buttons to the headings of a table, and a field that filters its rows where there may be
   * many. */
  static add(table: HTMLTableElement, key: string, choices: Choices, hasFilter: boolean): void {
    const sheet = new Sheet(table, key, choices);
    sheet.#addButtons();
    if (hasFilter && sheet.#rows.length > 1) {
      sheet.#addFilter();
    }
    sheet.#sort();
  }

  private constructor(table: HTMLTableElement, key: string, choices: Choices) {
    this.#table = table;
    this.#key = key;
    this.#choices = choices;
    this.#rows = [...(table.tBodies[0]?.rows ?? [])];
  }

  #addButtons(): void {
    this.#heads().forEach((head, column) => {
      const keys = this.#keys(column);
      // A column of pictures has no order, and a button needs a name.
      if (head.textContent !== "" && keys.some((key) => key !== "")) {
        const press = () => this.#press(column, isOfNumbers(keys));
        const made = button(head.textContent ?? "", { class: "sort" }, press);
        head.replaceChildren(made);
      }
    });
  }

  #addFilter(): void {
    const field = element("input", { type: "search" });
    const label = element("label", {}, "Filter ", field);
    this.#table.parentElement?.before(element("p", { class: "filter" }, label, this.#count));
    this.#listen(field);
  }

  #listen(field: HTMLInputElement): void {
    field.value = this.#choices.searches.get(this.#key) ?? field.value;
    field.addEventListener("input", () => this.#filter(field.value));
    this.#filter(field.value);
  }

  #filter(search: string): void {
    this.#choices.searches.set(this.#key, search);
    this.#rows.forEach((row) => {
      row.hidden = !matches(row.textContent ?? "", search);
    });
    const shown = this.#rows.filter((row) => !row.hidden).length;
    const isAll = shown === this.#rows.length;
    this.#count.textContent = isAll ? "" : `${shown} of ${this.#rows.length}`;
  }

  /** The order by a column, then its reverse, then that of the report again. */
  #press(column: number, isNumbers: boolean): void {
    const [first, second]: readonly Direction[] = isNumbers
      ? ["descending", "ascending"]
      : ["ascending", "descending"];
    const { orders } = this.#choices;
    const before = orders.get(this.#key);
    const now = before?.column === column ? before.direction : undefined;
    const next = now === undefined ? first : now === first ? second : undefined;
    if (next === undefined) {
      orders.delete(this.#key);
    } else {
      orders.set(this.#key, { column, direction: next });
    }
    this.#sort();
  }

  #sort(): void {
    const order = this.#choices.orders.get(this.#key);
    this.#heads().forEach((head, column) => {
      if (order?.column === column) {
        head.setAttribute("aria-sort", order.direction);
      } else {
        head.removeAttribute("aria-sort");
      }
    });
    const numbers = order && ordered(this.#keys(order.column), order.direction);
    const rows = numbers?.flatMap((number) => this.#rows[number] ?? []) ?? this.#rows;
    this.#table.tBodies[0]?.append(...rows);
  }

  #heads(): HTMLTableCellElement[] {
    return [...(this.#table.tHead?.rows[0]?.cells ?? [])];
  }

  #keys(column: number): Key[] {
    return this.#rows.map((row) => {
      const cell = row.cells[column];
      const number = cell?.dataset["n"];
      if (number === undefined) {
        return (cell?.textContent ?? "").trim();
      }
      return number === "" ? undefined : Number(number);
    });
  }
}
