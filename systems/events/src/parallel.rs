//! Arrays distributed over the nodes of a job, and what C* does with them: element by element, shifted
//! along an axis, and reduced.
