// A lesson's notebook with the reader's answers, and back.
//
//   the student's notebook, {waste: code}  ->  the notebook with the code in its answer cells
//   such a notebook, worked on anywhere    ->  {waste: code}

const isAnswer = (cell) => cell.cell_type === "code" && cell.metadata?.nbgrader?.solution === true;
const text = (cell) => (Array.isArray(cell.source) ? cell.source.join("") : cell.source);

export function withAnswers(notebook, codes) {
  const cells = notebook.cells.map((cell) => {
    const code = isAnswer(cell) ? codes[cell.metadata.nbgrader.grade_id] : undefined;
    return code === undefined ? cell : { ...cell, source: code.split(/(?<=\n)/), outputs: [], execution_count: null };
  });
  return { ...notebook, cells };
}

// Throws an Error in one line where the file is no notebook with answers.
export function answersOf(content) {
  let cells;
  try { cells = JSON.parse(content).cells; } catch { /* no JSON */ }
  if (!Array.isArray(cells)) throw new Error("This file is no notebook.");
  return Object.fromEntries(cells.filter(isAnswer).map((cell) => [cell.metadata.nbgrader.grade_id, text(cell)]));
}
